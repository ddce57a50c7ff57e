package org.sparkcollectives.testing;

import java.io.ByteArrayOutputStream;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * The input of a fuzz test as a stream of bytes that arrives in pieces. The first byte gives the
 * length of each piece, 0 for all in one; the rest is the stream.
 */
public final class FuzzedStream {

  private final byte[] input;

  /** Creates a stream from the input of a fuzzer. */
  public FuzzedStream(byte[] input) {
    this.input = input.clone();
  }

  /** Returns an input whose pieces have so many bytes, for a seed. */
  public static byte[] seed(int pieceBytes, byte[]... parts) {
    ByteArrayOutputStream seed = new ByteArrayOutputStream();
    seed.write(pieceBytes);
    for (byte[] part : parts) {
      seed.writeBytes(part);
    }
    return seed.toByteArray();
  }

  /** Returns the whole stream. */
  public byte[] bytes() {
    return Arrays.copyOfRange(input, Math.min(1, input.length), input.length);
  }

  /** Returns the pieces in order. */
  public List<byte[]> pieces() {
    int length = input.length == 0 || input[0] == 0 ? Integer.MAX_VALUE : input[0] & 0xff;
    List<byte[]> pieces = new ArrayList<>();
    for (int at = 1; at < input.length; at += Math.min(length, input.length - at)) {
      pieces.add(Arrays.copyOfRange(input, at, (int) Math.min(input.length, (long) at + length)));
    }
    return pieces;
  }
}
