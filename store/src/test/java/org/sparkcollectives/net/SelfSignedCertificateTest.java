package org.sparkcollectives.net;

import static org.assertj.core.api.Assertions.assertThat;

import java.security.KeyPair;
import java.security.KeyPairGenerator;
import java.security.cert.X509Certificate;
import java.time.Instant;
import java.util.Date;
import org.junit.jupiter.api.Test;

/** Tests that the JDK reads the certificates that we write. */
class SelfSignedCertificateTest {

  @Test
  void theJdkReadsWhatWasWrittenAndFindsItSignedWithItsOwnKey() throws Exception {
    KeyPairGenerator generator = KeyPairGenerator.getInstance("EC");
    // The longer the name and the key, the more bytes a length takes.
    for (int bits : new int[] {256, 384, 521}) {
      generator.initialize(bits);
      for (int characters : new int[] {1, 64}) {
        KeyPair keys = generator.generateKeyPair();
        String name = "n".repeat(characters);
        X509Certificate certificate = SelfSignedCertificate.of(keys, name);
        certificate.verify(keys.getPublic());
        certificate.checkValidity();
        certificate.checkValidity(Date.from(Instant.parse("1970-01-01T00:00:00Z")));
        certificate.checkValidity(Date.from(Instant.parse("9999-12-31T23:59:59Z")));
        assertThat(certificate.getPublicKey()).isEqualTo(keys.getPublic());
        assertThat(certificate.getSubjectX500Principal().getName()).isEqualTo("CN=" + name);
        assertThat(certificate.getIssuerX500Principal())
            .isEqualTo(certificate.getSubjectX500Principal());
        assertThat(certificate.getSigAlgName()).isEqualTo("SHA256withECDSA");
        assertThat(certificate.getSerialNumber()).isPositive();
      }
    }
  }
}
