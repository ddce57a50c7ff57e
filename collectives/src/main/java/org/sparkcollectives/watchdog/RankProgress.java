package org.sparkcollectives.watchdog;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;

/**
 * How far a rank has come in its group's collectives.
 *
 * @param lastCalled the number of the last collective that it called, -1 before the first
 * @param lastCompleted the number of the last collective that it completed, -1 before the first
 * @param lastOperation the last one called, as messages have it; may be empty
 */
public record RankProgress(long lastCalled, long lastCompleted, String lastOperation) {

  byte[] encode() {
    byte[] text = lastOperation.getBytes(StandardCharsets.UTF_8);
    return ByteBuffer.allocate(16 + text.length)
        .putLong(lastCalled)
        .putLong(lastCompleted)
        .put(text)
        .array();
  }

  static RankProgress decode(byte[] bytes) {
    ByteBuffer in = ByteBuffer.wrap(bytes);
    long called = in.getLong();
    long completed = in.getLong();
    byte[] text = new byte[in.remaining()];
    in.get(text);
    return new RankProgress(called, completed, new String(text, StandardCharsets.UTF_8));
  }
}
