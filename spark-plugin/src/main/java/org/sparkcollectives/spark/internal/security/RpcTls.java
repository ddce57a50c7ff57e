package org.sparkcollectives.spark.internal.security;

import io.netty.buffer.ByteBufAllocator;
import javax.net.ssl.SSLEngine;
import org.apache.spark.SSLOptions;
import org.apache.spark.SparkConf;
import org.apache.spark.network.netty.SparkTransportConf;
import org.apache.spark.network.ssl.SSLFactory;
import org.apache.spark.network.util.TransportConf;
import org.sparkcollectives.net.TransportSecurity;
import scala.Option;

/**
 * Creates TLS with the keys, the trust, the algorithms and the provider of Spark's own RPC, as
 * Spark reads them from {@code spark.ssl.rpc.*} and {@code spark.ssl.*}. Separate from {@link
 * SparkSecurity}, because the classes exist only since Spark 4.0.
 */
final class RpcTls {

  private RpcTls() {}

  static TransportSecurity of(SparkConf conf, SSLOptions options) {
    TransportConf settings =
        SparkTransportConf.fromSparkConf(conf, "rpc", 1, Option.empty(), Option.apply(options));
    if (!settings.sslRpcEnabledAndKeysAreValid()) {
      throw new IllegalArgumentException(
          "spark.ssl.rpc.enabled is true, but its keys cannot be read here: key store "
              + settings.sslRpcKeyStore()
              + ", private key "
              + settings.sslRpcPrivateKey()
              + ", certificate chain "
              + settings.sslRpcCertChain()
              + ". What ranks send is never left unencrypted instead; put the files where"
              + " spark.ssl.rpc.keyStore, or spark.ssl.rpc.privateKey and"
              + " spark.ssl.rpc.certChain, say on every host");
    }
    SSLFactory factory =
        new SSLFactory.Builder()
            .openSslEnabled(settings.sslRpcOpenSslEnabled())
            .requestedProtocol(settings.sslRpcProtocol())
            .requestedCiphers(settings.sslRpcRequestedCiphers())
            .keyStore(settings.sslRpcKeyStore(), settings.sslRpcKeyStorePassword())
            .keyPassword(settings.sslRpcKeyPassword())
            .privateKey(settings.sslRpcPrivateKey())
            .privateKeyPassword(settings.sslRpcPrivateKeyPassword())
            .certChain(settings.sslRpcCertChain())
            // Read once: reloading takes a thread that nobody would end.
            .trustStore(
                settings.sslRpcTrustStore(),
                settings.sslRpcTrustStorePassword(),
                false,
                settings.sslRpctrustStoreReloadIntervalMs())
            .build();
    return TransportSecurity.tlsEngines(
        allocator -> engine(factory, false, allocator),
        allocator -> engine(factory, true, allocator));
  }

  private static SSLEngine engine(SSLFactory factory, boolean client, ByteBufAllocator allocator) {
    return factory.createSSLEngine(client, allocator);
  }
}
