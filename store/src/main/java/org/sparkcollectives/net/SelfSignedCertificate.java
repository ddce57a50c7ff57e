package org.sparkcollectives.net;

import static java.nio.charset.StandardCharsets.US_ASCII;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.math.BigInteger;
import java.security.GeneralSecurityException;
import java.security.KeyPair;
import java.security.SecureRandom;
import java.security.Signature;
import java.security.cert.CertificateFactory;
import java.security.cert.X509Certificate;

/**
 * Creates, in memory, an X.509 certificate that a key of an elliptic curve signs for itself (RFC
 * 5280, section 4.1).
 *
 * <p>The JDK reads certificates but has no interface to make one. Only the key in this certificate
 * matters: it carries no extensions and does not expire.
 */
final class SelfSignedCertificate {

  private static final int INTEGER = 0x02;
  private static final int BIT_STRING = 0x03;
  private static final int OBJECT_IDENTIFIER = 0x06;
  private static final int UTF8_STRING = 0x0c;
  private static final int GENERALIZED_TIME = 0x18;
  private static final int UTC_TIME = 0x17;
  private static final int SEQUENCE = 0x30;
  private static final int SET = 0x31;

  /** 1.2.840.10045.4.3.2, ecdsa-with-SHA256. */
  private static final byte[] ECDSA_SHA256 = {0x2a, (byte) 0x86, 0x48, (byte) 0xce, 0x3d, 4, 3, 2};

  /** 2.5.4.3, commonName. */
  private static final byte[] COMMON_NAME = {0x55, 4, 3};

  private SelfSignedCertificate() {}

  /** Creates a certificate for a key pair of an elliptic curve. */
  static X509Certificate of(KeyPair keys, String name) throws GeneralSecurityException {
    byte[] algorithm = der(SEQUENCE, der(OBJECT_IDENTIFIER, ECDSA_SHA256));
    byte[] common =
        der(
            SEQUENCE,
            der(OBJECT_IDENTIFIER, COMMON_NAME),
            der(UTF8_STRING, name.getBytes(US_ASCII)));
    byte[] distinguished = der(SEQUENCE, der(SET, common));
    byte[] validity =
        der(
            SEQUENCE,
            der(UTC_TIME, "700101000000Z".getBytes(US_ASCII)),
            // RFC 5280, section 4.1.2.5: it does not expire.
            der(GENERALIZED_TIME, "99991231235959Z".getBytes(US_ASCII)));
    byte[] serial = der(INTEGER, new BigInteger(128, new SecureRandom()).toByteArray());
    byte[] content =
        der(
            SEQUENCE,
            serial,
            algorithm,
            distinguished,
            validity,
            distinguished,
            keys.getPublic().getEncoded());
    Signature signature = Signature.getInstance("SHA256withECDSA");
    signature.initSign(keys.getPrivate());
    signature.update(content);
    byte[] noUnusedBits = {0};
    byte[] certificate =
        der(SEQUENCE, content, algorithm, der(BIT_STRING, noUnusedBits, signature.sign()));
    return (X509Certificate)
        CertificateFactory.getInstance("X.509")
            .generateCertificate(new ByteArrayInputStream(certificate));
  }

  /**
   * Returns a value in the Distinguished Encoding Rules (X.690): its tag, its length, its parts.
   */
  private static byte[] der(int tag, byte[]... parts) {
    ByteArrayOutputStream content = new ByteArrayOutputStream();
    for (byte[] part : parts) {
      content.writeBytes(part);
    }
    ByteArrayOutputStream value = new ByteArrayOutputStream();
    value.write(tag);
    if (content.size() < 0x80) {
      value.write(content.size());
    } else {
      byte[] length = BigInteger.valueOf(content.size()).toByteArray();
      int leadingZeros = length[0] == 0 ? 1 : 0;
      value.write(0x80 | (length.length - leadingZeros));
      value.write(length, leadingZeros, length.length - leadingZeros);
    }
    value.writeBytes(content.toByteArray());
    return value.toByteArray();
  }
}
