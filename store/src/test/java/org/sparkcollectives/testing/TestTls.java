package org.sparkcollectives.testing;

import io.netty.handler.ssl.SslContext;
import io.netty.handler.ssl.SslContextBuilder;
import io.netty.handler.ssl.SslProvider;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.KeyStore;
import java.util.List;
import java.util.concurrent.TimeUnit;
import javax.net.ssl.KeyManagerFactory;
import javax.net.ssl.TrustManagerFactory;
import org.sparkcollectives.net.TransportSecurity;

/** TLS for tests, with a key pair made by the JDK's keytool that signs itself. */
public final class TestTls {

  private static final String PASSWORD = "only-for-tests";

  private TestTls() {}

  /** Returns TLS with a key pair that all tests of this JVM share. */
  public static TransportSecurity shared() {
    return Shared.SECURITY;
  }

  private static final class Shared {

    static final TransportSecurity SECURITY = create();

    private static TransportSecurity create() {
      try {
        return TestTls.create();
      } catch (Exception e) {
        throw new IllegalStateException("keytool made no key pair", e);
      }
    }
  }

  /**
   * The two sides of TLS between peers that trust each other and nobody else.
   *
   * @param server for those that accept a connection
   * @param client for those that make one
   */
  public record Sides(SslContext server, SslContext client) {}

  /** Creates TLS between peers that trust each other and nobody else. */
  public static TransportSecurity create() throws Exception {
    Sides sides = sides();
    return TransportSecurity.tls(sides.server, sides.client);
  }

  /** Creates the two sides of TLS, by the JDK. */
  public static Sides sides() throws Exception {
    Path directory = Files.createTempDirectory("tls");
    Path file = directory.resolve("keys.p12");
    try {
      generate(file);
      KeyStore keys = KeyStore.getInstance("PKCS12");
      try (InputStream in = Files.newInputStream(file)) {
        keys.load(in, PASSWORD.toCharArray());
      }
      KeyManagerFactory own =
          KeyManagerFactory.getInstance(KeyManagerFactory.getDefaultAlgorithm());
      own.init(keys, PASSWORD.toCharArray());
      TrustManagerFactory trusted =
          TrustManagerFactory.getInstance(TrustManagerFactory.getDefaultAlgorithm());
      KeyStore certificates = KeyStore.getInstance("PKCS12");
      certificates.load(null, null);
      certificates.setCertificateEntry("peer", keys.getCertificate("peer"));
      trusted.init(certificates);
      return new Sides(
          SslContextBuilder.forServer(own).sslProvider(SslProvider.JDK).build(),
          SslContextBuilder.forClient().sslProvider(SslProvider.JDK).trustManager(trusted).build());
    } finally {
      Files.deleteIfExists(file);
      Files.delete(directory);
    }
  }

  private static void generate(Path file) throws Exception {
    Process keytool =
        new ProcessBuilder(
                List.of(
                    Path.of(System.getProperty("java.home"), "bin", "keytool").toString(),
                    "-genkeypair",
                    "-alias",
                    "peer",
                    "-keyalg",
                    "EC",
                    "-dname",
                    "CN=localhost",
                    "-ext",
                    "SAN=dns:localhost,ip:127.0.0.1",
                    "-validity",
                    "2",
                    "-storetype",
                    "PKCS12",
                    "-storepass",
                    PASSWORD,
                    "-keystore",
                    file.toString()))
            .redirectErrorStream(true)
            .redirectOutput(ProcessBuilder.Redirect.DISCARD)
            .start();
    if (!keytool.waitFor(60, TimeUnit.SECONDS) || keytool.exitValue() != 0) {
      keytool.destroyForcibly();
      throw new IllegalStateException("keytool failed");
    }
  }
}
