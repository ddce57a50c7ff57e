package org.sparkcollectives.store.net;

import java.io.ByteArrayOutputStream;
import java.util.Arrays;
import javax.crypto.Mac;

/**
 * Keys from a secret: HKDF with HMAC-SHA256 (RFC 5869). JDK 17 has no such function of its own.
 * Stateless.
 */
final class Hkdf {

  static final int HASH_BYTES = 32;

  private static final int MAX_BLOCKS = 255;

  private Hkdf() {}

  /** HKDF-Extract: one key of 32 bytes that is as hard to guess as the secret. */
  static byte[] extract(byte[] salt, byte[] secret) {
    // An HMAC pads its key with zeros, so that no salt and 32 zeros are the same.
    return HmacSha256.under(salt.length == 0 ? new byte[HASH_BYTES] : salt).doFinal(secret);
  }

  /** HKDF-Expand: {@code length} bytes for the purpose that {@code info} names. */
  static byte[] expand(byte[] key, byte[] info, int length) {
    int blocks = (length + HASH_BYTES - 1) / HASH_BYTES;
    if (length < 0 || blocks > MAX_BLOCKS) {
      throw new IllegalArgumentException(
          "HKDF gives up to " + MAX_BLOCKS * HASH_BYTES + " bytes, not " + length);
    }
    Mac mac = HmacSha256.under(key);
    ByteArrayOutputStream all = new ByteArrayOutputStream(blocks * HASH_BYTES);
    byte[] block = {};
    for (int i = 1; i <= blocks; i++) {
      mac.update(block);
      mac.update(info);
      block = mac.doFinal(new byte[] {(byte) i});
      all.writeBytes(block);
    }
    return Arrays.copyOf(all.toByteArray(), length);
  }
}
