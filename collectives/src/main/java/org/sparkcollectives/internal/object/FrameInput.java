package org.sparkcollectives.internal.object;

import java.io.IOException;
import java.io.InputStream;
import java.util.Arrays;
import org.sparkcollectives.Tensor;
import org.sparkcollectives.Work;

/**
 * The stream from which an object is read. It receives a frame whenever one is used up, while the
 * next is already on its way.
 */
final class FrameInput extends InputStream {

  /** The source of frames. */
  interface Path {

    /** Begins to receive a frame; {@code index} counts from 0. */
    Work receive(int index, Tensor frame);
  }

  private final Path path;
  private final String source;
  private byte[] current = new byte[0];
  private int position;
  private int end;
  private byte[] coming;
  private int comingBytes;
  private Work work;
  private int received;
  private byte[] failure;
  private BrokenStream broken;

  /**
   * Creates a stream, and begins to receive.
   *
   * @param source what errors call this
   */
  FrameInput(Path path, String source) {
    this.path = path;
    this.source = source;
    receive(new byte[Frame.FIRST_BYTES], Frame.FIRST_BYTES);
  }

  private void receive(byte[] free, int length) {
    coming = free.length >= length ? free : new byte[length];
    comingBytes = length;
    work = path.receive(received, Tensor.of(coming).slice(0, length));
    received++;
  }

  /** Advances to the next frame; returns false after the last. */
  private boolean next() {
    requireWhole();
    if (coming == null) {
      return false;
    }
    try {
      work.await();
      Frame.Header header = Frame.Header.of(coming, comingBytes, source);
      byte[] free = current;
      current = coming;
      position = header.offset();
      end = header.end();
      coming = null;
      if (header.nextBytes() > 0) {
        receive(free, header.nextBytes());
      }
      if (header.isFailure()) {
        failure = Arrays.copyOfRange(current, position, end);
        position = end;
      }
      return true;
    } catch (RuntimeException | Error e) {
      broken = new BrokenStream(e);
      throw e;
    }
  }

  /** Returns whether there is more to read. */
  private boolean hasBytes() throws IOException {
    while (position == end) {
      if (failure == null && !next()) {
        return false;
      }
      if (failure != null) {
        throw new IOException("The rank that serialises the object has failed to");
      }
    }
    return true;
  }

  @Override
  public int read() throws IOException {
    return hasBytes() ? current[position++] & 0xFF : -1;
  }

  @Override
  public int read(byte[] bytes, int offset, int length) throws IOException {
    if (length == 0) {
      return 0;
    }
    if (!hasBytes()) {
      return -1;
    }
    int taken = Math.min(length, end - position);
    System.arraycopy(current, position, bytes, offset, taken);
    position += taken;
    return taken;
  }

  /** Receives what the codec has not read, so that the ranks stay in step. */
  void drain() {
    boolean more = true;
    while (more) {
      position = end;
      more = next();
    }
  }

  /**
   * Returns why the other rank could not serialise the object; null if it could. Known once the
   * stream is drained.
   */
  byte[] failure() {
    return failure;
  }

  /**
   * Throws what an operation of the group threw in this stream, in case the codec has wrapped or
   * swallowed it.
   */
  void requireWhole() {
    if (broken != null) {
      broken.rethrow();
    }
  }
}
