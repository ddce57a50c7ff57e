package org.sparkcollectives.spark.internal.security;

import static org.assertj.core.api.Assertions.assertThat;

import org.apache.spark.SparkConf;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.sparkcollectives.net.TransportSecurity;

/** Tests which of Spark's settings have what ranks send encrypted, and how they may be spelled. */
class SparkSecurityTest {

  private static TransportSecurity with(String key, String value) {
    // The manager is asked for keys of TLS only, which these settings do not name.
    return SparkSecurity.make(new SparkConf(false).set(key, value), null);
  }

  @ParameterizedTest
  @CsvSource({
    "spark.network.crypto.enabled, true",
    "spark.network.crypto.enabled, True",
    "spark.authenticate.enableSaslEncryption, true",
    "spark.authenticate.enableSaslEncryption, TRUE",
    "spark.collectives.encryption, TLS",
    "spark.collectives.encryption, tls",
  })
  void whoAsksForEncryptionGetsIt(String key, String value) {
    assertThat(with(key, value)).isSameAs(TransportSecurity.ephemeralTls());
  }

  @ParameterizedTest
  @CsvSource({
    "spark.network.crypto.enabled, False",
    "spark.authenticate.enableSaslEncryption, false",
    "spark.collectives.encryption, NONE",
    "spark.authenticate, true",
  })
  void whoAsksForNoneGetsNone(String key, String value) {
    assertThat(with(key, value).isPlain()).isTrue();
  }
}
