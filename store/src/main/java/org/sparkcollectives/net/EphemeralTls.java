package org.sparkcollectives.net;

import io.netty.handler.ssl.util.InsecureTrustManagerFactory;
import java.io.IOException;
import java.security.GeneralSecurityException;
import java.security.KeyPair;
import java.security.KeyPairGenerator;
import java.security.KeyStore;
import java.security.cert.Certificate;
import java.security.spec.ECGenParameterSpec;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.SSLContext;
import javax.net.ssl.SSLEngine;

/**
 * TLS 1.3 with a key that is drawn when it is first needed, and never leaves this process.
 *
 * <p>The certificate does not say who the process is, so a client accepts any certificate, and TLS
 * alone authenticates nobody. The handshake inside TLS does: its proofs cover the digest of the
 * certificate that the client saw and of the one that the server has (the channel binding
 * tls-server-end-point, RFC 5929). A man in the middle needs a certificate of his own, and then the
 * two digests differ.
 */
final class EphemeralTls {

  private static final String[] PROTOCOLS = {"TLSv1.3"};

  /** The first takes a tenth less time for large tensors; a JVM may be configured without it. */
  private static final String[] CIPHER_SUITES = {
    "TLS_AES_128_GCM_SHA256", "TLS_AES_256_GCM_SHA384"
  };

  private final SSLContext context;

  EphemeralTls() {
    try {
      KeyPairGenerator generator = KeyPairGenerator.getInstance("EC");
      generator.initialize(new ECGenParameterSpec("secp256r1"));
      KeyPair keys = generator.generateKeyPair();
      Certificate[] chain = {SelfSignedCertificate.of(keys, "spark-collectives")};
      KeyStore store = KeyStore.getInstance("PKCS12");
      char[] noPassword = {};
      store.load(null, noPassword);
      store.setKeyEntry("process", keys.getPrivate(), noPassword, chain);
      KeyManagerFactory own =
          KeyManagerFactory.getInstance(KeyManagerFactory.getDefaultAlgorithm());
      own.init(store, noPassword);
      context = SSLContext.getInstance("TLSv1.3");
      // The handshake inside TLS finds out whom the certificate belongs to.
      context.init(
          own.getKeyManagers(), InsecureTrustManagerFactory.INSTANCE.getTrustManagers(), null);
      // Each connection has its own keys: no TLS session is resumed.
      context.getClientSessionContext().setSessionCacheSize(1);
      context.getServerSessionContext().setSessionCacheSize(1);
    } catch (GeneralSecurityException | IOException e) {
      throw new IllegalStateException("This JVM cannot make a key for TLS", e);
    }
  }

  /** Returns an engine for one connection. */
  SSLEngine engine(boolean client) {
    SSLEngine engine = context.createSSLEngine();
    engine.setUseClientMode(client);
    engine.setEnabledProtocols(PROTOCOLS);
    engine.setEnabledCipherSuites(CIPHER_SUITES);
    return engine;
  }
}
