package org.sparkcollectives.spi.tensor;

import java.nio.ByteBuffer;

/** Copies booleans between {@code boolean[]}, {@code byte[]} and buffers: false is 0, true is 1. */
final class TruthValues {

  private TruthValues() {}

  /** Copies booleans into bytes 0 and 1. */
  static void toBytes(boolean[] source, int from, byte[] target, int to, int length) {
    for (int i = 0; i < length; i++) {
      target[to + i] = (byte) (source[from + i] ? 1 : 0);
    }
  }

  /** Copies bytes into booleans; all but 0 are true. */
  static void toBooleans(byte[] source, int from, boolean[] target, int to, int length) {
    for (int i = 0; i < length; i++) {
      target[to + i] = source[from + i] != 0;
    }
  }

  /**
   * Reads bytes of a buffer, from the absolute position {@code from} on, as booleans.
   *
   * @param tile through which they go, with any content
   */
  static void get(ByteBuffer source, int from, boolean[] target, int to, int length, byte[] tile) {
    for (int done = 0; done < length; done += tile.length) {
      int n = Math.min(tile.length, length - done);
      source.get(from + done, tile, 0, n);
      toBooleans(tile, 0, target, to + done, n);
    }
  }

  /**
   * Writes booleans to a buffer, from the absolute position {@code from} on, as bytes 0 and 1.
   *
   * @param tile through which they go, with any content
   */
  static void put(
      ByteBuffer target, int from, boolean[] source, int index, int length, byte[] tile) {
    for (int done = 0; done < length; done += tile.length) {
      int n = Math.min(tile.length, length - done);
      toBytes(source, index + done, tile, 0, n);
      target.put(from + done, tile, 0, n);
    }
  }
}
