package org.sparkcollectives.internal.object;

import java.io.OutputStream;
import org.sparkcollectives.Tensor;
import org.sparkcollectives.Work;

/**
 * The stream into which an object is serialised. It sends a frame whenever one is full.
 *
 * <p>There are three frames: one is being filled, one is complete and waits until the length of the
 * next is known, and one is on its way.
 */
final class FrameOutput extends OutputStream {

  /** The destination of frames. */
  interface Path {

    /** Begins to send a frame; {@code index} counts from 0. */
    Work send(int index, Tensor frame);
  }

  private final Path path;
  private Frame filling = Frame.first();
  private Frame complete;
  private Frame sending;
  private Work work;
  private int sent;
  private BrokenStream broken;

  FrameOutput(Path path) {
    this.path = path;
  }

  @Override
  public void write(int value) {
    write(new byte[] {(byte) value}, 0, 1);
  }

  @Override
  public void write(byte[] bytes, int offset, int length) {
    requireWhole();
    int from = offset;
    int left = length;
    while (left > 0) {
      if (filling.isFull()) {
        nextFrame();
      }
      int taken = filling.append(bytes, from, left);
      from += taken;
      left -= taken;
    }
  }

  private void nextFrame() {
    Frame free = null;
    if (complete != null) {
      free = send(complete, filling);
    }
    complete = filling;
    filling = free == null ? Frame.later() : free;
  }

  /**
   * Sends a frame, and returns the one before it, which is empty and free for use; null if there is
   * none.
   */
  private Frame send(Frame frame, Frame next) {
    try {
      if (work != null) {
        work.await();
      }
      work = path.send(sent, frame.toTensor(next));
    } catch (RuntimeException | Error e) {
      broken = new BrokenStream(e);
      throw e;
    }
    // The first frame is smaller than the others, so it is not used again.
    Frame free = sent > 1 ? sending : null;
    sending = frame;
    sent++;
    if (free != null) {
      free.clear();
    }
    return free;
  }

  /** Sends the rest of the object, and waits until all of it is sent. */
  void finish() {
    requireWhole();
    if (complete != null && !filling.isEmpty()) {
      send(complete, filling);
      complete = filling;
    } else if (complete == null) {
      complete = filling;
    }
    end();
  }

  /** Ends the object with a failure, which the receivers get, and waits until it is sent. */
  void fail(byte[] failure) {
    requireWhole();
    if (complete == null) {
      filling.clear();
      complete = filling;
    }
    Frame last = Frame.failure(failure);
    send(complete, last);
    complete = last;
    end();
  }

  private void end() {
    send(complete, null);
    try {
      work.await();
    } catch (RuntimeException | Error e) {
      broken = new BrokenStream(e);
      throw e;
    }
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
