package org.sparkcollectives.internal.rendezvous;

import java.nio.charset.StandardCharsets;
import org.sparkcollectives.net.HmacSha256;

/** Derives keys from a group's secret, by HMAC-SHA256, without revealing it. */
public final class GroupSecret {

  private GroupSecret() {}

  /** Returns 32 bytes for one purpose, the same on all ranks. */
  public static byte[] derive(byte[] secret, String purpose) {
    return HmacSha256.under(secret).doFinal(purpose.getBytes(StandardCharsets.UTF_8));
  }
}
