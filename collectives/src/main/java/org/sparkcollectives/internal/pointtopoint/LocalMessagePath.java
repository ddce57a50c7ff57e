package org.sparkcollectives.internal.pointtopoint;

import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.sparkcollectives.CollectiveMismatchException;
import org.sparkcollectives.DType;

/** The path between two ranks of one JVM: one copy, from the sender's tensor to the receiver's. */
public final class LocalMessagePath implements MessagePath {

  /** The largest message that is copied on the thread that completes the match. */
  private static final long COPY_AT_ONCE_BYTES = 256 * 1024;

  private static final Logger LOG = LoggerFactory.getLogger(LocalMessagePath.class);

  private final int self;
  private final MessageMatcher peer;
  private final Executor executor;

  /** Creates the path from {@code self} to the rank that {@code peer} matches for. */
  public LocalMessagePath(int self, MessageMatcher peer, Executor executor) {
    this.self = self;
    this.peer = peer;
    this.executor = executor;
  }

  @Override
  public void send(PostedSend message) {
    peer.offer(new LocalMessage(message));
  }

  private final class LocalMessage implements OfferedMessage {
    private final PostedSend send;

    LocalMessage(PostedSend send) {
      this.send = send;
    }

    @Override
    public int source() {
      return self;
    }

    @Override
    public int tag() {
      return send.tag();
    }

    @Override
    public DType dtype() {
      return send.dtype();
    }

    @Override
    public long count() {
      return send.count();
    }

    @Override
    public void accept(PostedReceive receive) {
      send.matched();
      if (send.count() * send.dtype().bytes() > COPY_AT_ONCE_BYTES) {
        try {
          executor.execute(() -> send.copyTo(receive));
          return;
        } catch (RejectedExecutionException | OutOfMemoryError e) {
          LOG.debug("no thread for a copy, which is made here: {}", e.toString());
        }
      }
      send.copyTo(receive);
    }

    @Override
    public void refuse(CollectiveMismatchException why) {
      send.fail(new CollectiveMismatchException(why.getMessage(), why.calls()));
    }
  }
}
