package org.sparkcollectives.spark.internal.python;

import java.io.IOException;
import java.io.InputStream;
import java.net.Socket;
import java.net.SocketTimeoutException;
import java.time.Duration;
import java.util.concurrent.TimeUnit;

/**
 * The bytes that arrive at a socket before a deadline, however slowly they come. Used by one
 * thread.
 */
final class DeadlineInputStream extends InputStream {

  private final Socket socket;
  private final InputStream in;
  private final Duration limit;
  private final long endNanos;

  /** Creates a stream that ends {@code limit} from now. */
  DeadlineInputStream(Socket socket, Duration limit) throws IOException {
    this.socket = socket;
    this.in = socket.getInputStream();
    this.limit = limit;
    this.endNanos = System.nanoTime() + limit.toNanos();
  }

  @Override
  public int read() throws IOException {
    byte[] one = new byte[1];
    return read(one, 0, 1) < 0 ? -1 : Byte.toUnsignedInt(one[0]);
  }

  @Override
  public int read(byte[] bytes, int offset, int length) throws IOException {
    long left = TimeUnit.NANOSECONDS.toMillis(endNanos - System.nanoTime());
    if (left <= 0) {
      throw new SocketTimeoutException("its handshake was not over after " + limit);
    }
    socket.setSoTimeout((int) Math.min(left, Integer.MAX_VALUE));
    return in.read(bytes, offset, length);
  }
}
