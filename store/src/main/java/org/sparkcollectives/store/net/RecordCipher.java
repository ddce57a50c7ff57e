package org.sparkcollectives.store.net;

import static java.nio.charset.StandardCharsets.US_ASCII;

import java.nio.ByteBuffer;
import java.security.GeneralSecurityException;
import javax.crypto.Cipher;
import javax.crypto.spec.GCMParameterSpec;
import javax.crypto.spec.SecretKeySpec;

/**
 * AES-256-GCM for the records of one direction of one connection, on one side. Not thread-safe.
 *
 * <p>Both sides count the records, and a record's number is its nonce: since the key belongs to
 * this direction of this connection alone, no nonce is used twice under a key, and a record that is
 * left out, repeated or moved has a number on the other side with which its tag does not fit. After
 * {@link #RECORDS_PER_KEY} records both sides go on with the next key, from which the last one
 * cannot be found out: GCM's guarantees grow weak with the data under one key.
 */
final class RecordCipher {

  /** What a record grows by. */
  static final int TAG_BYTES = 16;

  /**
   * 64 GiB in records of the largest size: 2^32 blocks, at which the chance to tell ciphertext from
   * noise is 2^-65.
   */
  static final long RECORDS_PER_KEY = 1L << 19;

  private static final int KEY_BYTES = 32;
  private static final int NONCE_BYTES = 12;

  private final int mode;
  private final long recordsPerKey;
  private final Cipher cipher;
  private byte[] secret;
  private SecretKeySpec key;
  private long records;

  private RecordCipher(int mode, byte[] secret, long recordsPerKey) {
    this.mode = mode;
    this.recordsPerKey = recordsPerKey;
    this.secret = secret.clone();
    try {
      this.cipher = Cipher.getInstance("AES/GCM/NoPadding");
    } catch (GeneralSecurityException e) {
      throw new IllegalStateException("Every JVM has AES-GCM", e);
    }
    this.key = key();
  }

  /** For the side that sends in this direction. */
  static RecordCipher encrypting(byte[] secret, long recordsPerKey) {
    return new RecordCipher(Cipher.ENCRYPT_MODE, secret, recordsPerKey);
  }

  /** For the side that receives in this direction. */
  static RecordCipher decrypting(byte[] secret, long recordsPerKey) {
    return new RecordCipher(Cipher.DECRYPT_MODE, secret, recordsPerKey);
  }

  private SecretKeySpec key() {
    return new SecretKeySpec(Hkdf.expand(secret, "key".getBytes(US_ASCII), KEY_BYTES), "AES");
  }

  /** How many records there have been. */
  long records() {
    return records;
  }

  /**
   * Encrypts the next record and adds its tag, or decrypts it and checks the tag.
   *
   * @param kind is not encrypted, but vouched for by the tag
   * @throws javax.crypto.AEADBadTagException if this is not what the other side has sent next
   */
  void apply(byte kind, ByteBuffer from, ByteBuffer to) throws GeneralSecurityException {
    if (records > 0 && records % recordsPerKey == 0) {
      secret = Hkdf.expand(secret, "next".getBytes(US_ASCII), Hkdf.HASH_BYTES);
      key = key();
    }
    byte[] nonce =
        ByteBuffer.allocate(NONCE_BYTES).putLong(NONCE_BYTES - Long.BYTES, records).array();
    cipher.init(mode, key, new GCMParameterSpec(Byte.SIZE * TAG_BYTES, nonce));
    cipher.updateAAD(new byte[] {kind});
    cipher.doFinal(from, to);
    records++;
  }
}
