package org.sparkcollectives.engine;

import java.nio.charset.StandardCharsets;
import java.security.GeneralSecurityException;
import javax.crypto.Mac;
import javax.crypto.spec.SecretKeySpec;

/** What follows from a group's secret, by HMAC-SHA256, without telling it. */
final class GroupSecret {

  private static final String ALGORITHM = "HmacSHA256";

  private GroupSecret() {}

  /** 32 bytes for one purpose, the same on all ranks. */
  static byte[] derive(byte[] secret, String purpose) {
    try {
      Mac mac = Mac.getInstance(ALGORITHM);
      mac.init(new SecretKeySpec(secret, ALGORITHM));
      return mac.doFinal(purpose.getBytes(StandardCharsets.UTF_8));
    } catch (GeneralSecurityException e) {
      throw new IllegalStateException("Every JVM has " + ALGORITHM, e);
    }
  }
}
