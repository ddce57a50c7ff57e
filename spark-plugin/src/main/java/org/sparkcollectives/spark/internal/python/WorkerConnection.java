package org.sparkcollectives.spark.internal.python;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.Socket;
import java.nio.ByteBuffer;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.sparkcollectives.CollectiveException;

/**
 * A connection of a Python worker, served by a thread of its own, which runs the worker's calls.
 */
final class WorkerConnection implements TaskBridge.Connection {

  private static final Logger LOG = LoggerFactory.getLogger(WorkerConnection.class);

  /** A value of the store and its key, and a little more. */
  private static final int MOST_FRAME_BYTES = (128 << 20) + (1 << 20);

  private final Socket socket;
  private final BridgeHandshake.Worker worker;
  private final CountDownLatch ended = new CountDownLatch(1);

  /** Creates the connection of a worker that has proven itself. */
  WorkerConnection(Socket socket, BridgeHandshake.Worker worker) {
    this.socket = socket;
    this.worker = worker;
  }

  /** Serves the connection on this thread until it ends. */
  void serve() {
    if (!worker.task().add(this)) {
      close();
      return;
    }
    try (socket) {
      switch (worker.purpose()) {
        case CALLS -> answerCalls();
        case LIFE -> awaitEndOfWorker();
      }
    } catch (IOException e) {
      LOG.debug("The connection of Python worker {} ended: {}", worker.process(), e.toString());
    } finally {
      worker.task().remove(this);
      ended.countDown();
    }
  }

  private void answerCalls() throws IOException {
    FrameReader frames = new FrameReader(socket.getInputStream(), MOST_FRAME_BYTES);
    OutputStream out = socket.getOutputStream();
    Reply reply = new Reply();
    WorkerCalls calls = new WorkerCalls(worker.task());
    for (ByteBuffer frame = frames.next(); frame != null; frame = frames.next()) {
      answer(calls, frame, reply);
      reply.sendTo(out);
    }
  }

  private void answer(WorkerCalls calls, ByteBuffer frame, Reply reply) {
    try {
      calls.answer(new Request(frame), reply);
    } catch (Exception | LinkageError | OutOfMemoryError e) {
      if (e instanceof CollectiveException) {
        worker.task().operationFailed();
      }
      ErrorReply.write(e, reply);
    }
  }

  private void awaitEndOfWorker() {
    boolean goodbye = false;
    try {
      InputStream in = socket.getInputStream();
      // The only message here is that the worker is done.
      goodbye = in.read() == CallCode.GOODBYE;
    } catch (IOException e) {
      LOG.debug("Python worker {} is gone: {}", worker.process(), e.toString());
    }
    if (!goodbye) {
      worker.task().workerLost(worker.process());
    }
  }

  @Override
  public void close() {
    try {
      socket.close();
    } catch (IOException e) {
      LOG.debug("A connection could not be closed in good order", e);
    }
  }

  @Override
  public boolean awaitEnd(long deadlineNanos) {
    try {
      return ended.await(deadlineNanos - System.nanoTime(), TimeUnit.NANOSECONDS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return false;
    }
  }
}
