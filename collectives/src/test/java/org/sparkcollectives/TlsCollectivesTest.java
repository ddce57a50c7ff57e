package org.sparkcollectives;

import io.netty.handler.ssl.SslContext;
import io.netty.handler.ssl.SslContextBuilder;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.KeyStore;
import java.util.List;
import java.util.concurrent.TimeUnit;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.TrustManagerFactory;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.io.TempDir;
import org.sparkcollectives.net.TransportSecurity;
import org.sparkcollectives.spi.RankContext;

/** Runs the contract of collectives over TLS with given certificates. */
class TlsCollectivesTest extends CollectivesContractTest {

  private static final char[] PASSWORD = "changeit".toCharArray();

  @TempDir private static Path folder;
  private static TransportSecurity security;

  @BeforeAll
  static void makeCertificate() throws Exception {
    Path file = folder.resolve("rank.p12");
    Process keytool =
        new ProcessBuilder(
                Path.of(System.getProperty("java.home"), "bin", "keytool").toString(),
                "-genkeypair",
                "-alias",
                "rank",
                "-keyalg",
                "EC",
                "-dname",
                "CN=127.0.0.1",
                "-ext",
                "san=ip:127.0.0.1",
                "-storetype",
                "PKCS12",
                "-storepass",
                new String(PASSWORD),
                "-keystore",
                file.toString())
            .inheritIO()
            .start();
    if (!keytool.waitFor(60, TimeUnit.SECONDS) || keytool.exitValue() != 0) {
      throw new IllegalStateException("keytool failed");
    }
    KeyStore store = KeyStore.getInstance("PKCS12");
    try (InputStream in = Files.newInputStream(file)) {
      store.load(in, PASSWORD);
    }
    KeyManagerFactory keys = KeyManagerFactory.getInstance("PKIX");
    keys.init(store, PASSWORD);
    TrustManagerFactory trust = TrustManagerFactory.getInstance("PKIX");
    trust.init(store);
    SslContext server = SslContextBuilder.forServer(keys).protocols("TLSv1.3").build();
    SslContext client =
        SslContextBuilder.forClient()
            .trustManager(trust)
            .protocols("TLSv1.3")
            .endpointIdentificationAlgorithm(null)
            .build();
    security = TransportSecurity.tls(server, client);
  }

  @Override
  GroupOptions options() {
    return GroupOptions.defaults().withTransports("tcp");
  }

  @Override
  RankContext context(int rank) {
    return new HostedRank(List.of(), security);
  }
}
