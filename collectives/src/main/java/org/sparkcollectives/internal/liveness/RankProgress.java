package org.sparkcollectives.internal.liveness;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;

/**
 * The progress of a rank in its group's collectives.
 *
 * @param lastCalled the number of the last collective that it called, -1 before the first
 * @param lastCompleted the number of the last collective that it completed, -1 before the first
 * @param lastOperation the last one called, as messages have it; may be empty
 */
public record RankProgress(long lastCalled, long lastCompleted, String lastOperation) {

  private static final int NUMBERS_BYTES = 2 * Long.BYTES;

  byte[] encode() {
    byte[] text = lastOperation.getBytes(StandardCharsets.UTF_8);
    return ByteBuffer.allocate(NUMBERS_BYTES + text.length)
        .putLong(lastCalled)
        .putLong(lastCompleted)
        .put(text)
        .array();
  }

  /**
   * Returns the progress that {@link #encode} made these bytes of.
   *
   * @throws IllegalArgumentException if it did not
   */
  static RankProgress decode(byte[] bytes) {
    if (bytes.length < NUMBERS_BYTES) {
      throw new IllegalArgumentException(
          "the progress of a rank has " + NUMBERS_BYTES + " bytes or more, not " + bytes.length);
    }
    ByteBuffer in = ByteBuffer.wrap(bytes);
    long called = in.getLong();
    long completed = in.getLong();
    if (called < -1 || completed < -1 || completed > called) {
      throw new IllegalArgumentException(
          "no rank has called #" + called + " last and completed #" + completed);
    }
    byte[] text = new byte[in.remaining()];
    in.get(text);
    return new RankProgress(called, completed, new String(text, StandardCharsets.UTF_8));
  }
}
