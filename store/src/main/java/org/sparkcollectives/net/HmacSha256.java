package org.sparkcollectives.net;

import java.security.GeneralSecurityException;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

/** Message authentication codes of 32 bytes under a secret (RFC 2104). Stateless. */
public final class HmacSha256 {

  private static final String ALGORITHM = "HmacSHA256";

  private HmacSha256() {}

  /**
   * Creates a message authentication code, to which the caller feeds the data.
   *
   * @param secret which must not be empty
   */
  public static Mac under(byte[] secret) {
    try {
      Mac mac = Mac.getInstance(ALGORITHM);
      mac.init(new SecretKeySpec(secret, ALGORITHM));
      return mac;
    } catch (GeneralSecurityException e) {
      throw new IllegalStateException("Every JVM has " + ALGORITHM, e);
    }
  }
}
