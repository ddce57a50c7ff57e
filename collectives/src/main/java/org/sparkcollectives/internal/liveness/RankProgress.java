package org.sparkcollectives.internal.liveness;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.stream.IntStream;

/**
 * The progress of a rank in its group's collectives.
 *
 * @param lastCalled the number of the last collective that it called, -1 before the first
 * @param lastCompleted the number of the last collective that it completed, -1 before the first
 * @param lastOperation the last one called, as messages have it; may be empty
 * @param connectingTo the ranks to which a connection is being made
 */
public record RankProgress(
    long lastCalled, long lastCompleted, String lastOperation, List<Integer> connectingTo) {

  private static final int NUMBERS_BYTES = 2 * Long.BYTES + Integer.BYTES;

  /** Creates the progress of a rank that is making no connection. */
  public RankProgress(long lastCalled, long lastCompleted, String lastOperation) {
    this(lastCalled, lastCompleted, lastOperation, List.of());
  }

  /** Returns the same progress of a rank that is making connections to these ranks. */
  public RankProgress connectingTo(List<Integer> peers) {
    return new RankProgress(lastCalled, lastCompleted, lastOperation, List.copyOf(peers));
  }

  byte[] encode() {
    byte[] text = lastOperation.getBytes(StandardCharsets.UTF_8);
    int peersBytes = Integer.BYTES * connectingTo.size();
    ByteBuffer out =
        ByteBuffer.allocate(NUMBERS_BYTES + peersBytes + text.length)
            .putLong(lastCalled)
            .putLong(lastCompleted)
            .putInt(connectingTo.size());
    connectingTo.forEach(out::putInt);
    return out.put(text).array();
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
    int peers = in.getInt();
    if (peers < 0 || peers > in.remaining() / Integer.BYTES) {
      throw new IllegalArgumentException("no rank connects to " + peers + " ranks");
    }
    List<Integer> connectingTo = IntStream.range(0, peers).mapToObj(i -> in.getInt()).toList();
    byte[] text = new byte[in.remaining()];
    in.get(text);
    String operation = new String(text, StandardCharsets.UTF_8);
    return new RankProgress(called, completed, operation, connectingTo);
  }
}
