package org.sparkcollectives.spark.internal.python;

import java.io.EOFException;
import java.io.IOException;
import java.io.InputStream;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;

/** Cuts the bytes that arrive into frames. Used by one thread. */
final class FrameReader {

  private static final int KEPT_BYTES = 64 * 1024;

  private final InputStream in;
  private final int mostBytes;
  private byte[] bytes = new byte[4096];
  private int begin;
  private int end;

  /**
   * Creates a reader of {@code in}.
   *
   * @param mostBytes the longest frame for which memory is allocated
   */
  FrameReader(InputStream in, int mostBytes) {
    this.in = in;
    this.mostBytes = mostBytes;
  }

  /**
   * Returns the next frame without its length, valid until the next call; null at the end of the
   * stream. Blocks until the frame has arrived.
   *
   * @throws IOException if it is longer than allowed, or the stream ends within it
   */
  ByteBuffer next() throws IOException {
    if (!fill(Integer.BYTES)) {
      return null;
    }
    int length = ByteBuffer.wrap(bytes, begin, end - begin).order(ByteOrder.LITTLE_ENDIAN).getInt();
    if (length < 0 || length > mostBytes) {
      throw new IOException(
          "A frame of "
              + Integer.toUnsignedString(length)
              + " bytes is longer than the "
              + mostBytes
              + " that are allowed");
    }
    begin += Integer.BYTES;
    if (!fill(length)) {
      throw new EOFException("The stream ended before a frame of " + length + " bytes");
    }
    ByteBuffer frame = ByteBuffer.wrap(bytes, begin, length).slice().order(ByteOrder.LITTLE_ENDIAN);
    begin += length;
    return frame;
  }

  /**
   * Reads {@code count} bytes into the buffer. Returns false if the stream ends before the first of
   * them.
   */
  private boolean fill(int count) throws IOException {
    if (begin == end) {
      begin = 0;
      end = 0;
      if (bytes.length > KEPT_BYTES && count <= KEPT_BYTES) {
        bytes = new byte[4096];
      }
    }
    if (bytes.length - begin < count) {
      byte[] target = bytes.length < count ? new byte[count] : bytes;
      System.arraycopy(bytes, begin, target, 0, end - begin);
      bytes = target;
      end -= begin;
      begin = 0;
    }
    while (end - begin < count) {
      int read = in.read(bytes, end, bytes.length - end);
      if (read < 0) {
        if (end == begin) {
          return false;
        }
        throw new EOFException("The stream ended within a frame");
      }
      end += read;
    }
    return true;
  }
}
