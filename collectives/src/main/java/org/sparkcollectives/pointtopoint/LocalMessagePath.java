package org.sparkcollectives.pointtopoint;

import java.util.concurrent.Executor;
import org.sparkcollectives.CollectiveMismatchException;
import org.sparkcollectives.DType;
import org.sparkcollectives.tensor.HostTensor;

/** The way between two ranks of one JVM: one copy, from the sender's tensor to the receiver's. */
public final class LocalMessagePath implements MessagePath {

  /** Beyond this many bytes the copy is not made on the thread that completes the match. */
  private static final long COPY_AT_ONCE_BYTES = 256 * 1024;

  private final int self;
  private final MessageMatcher peer;
  private final Executor executor;

  /** From {@code self} to the rank that {@code peer} matches for. */
  public LocalMessagePath(int self, MessageMatcher peer, Executor executor) {
    this.self = self;
    this.peer = peer;
    this.executor = executor;
  }

  @Override
  public void send(HostTensor tensor, int tag, Listener listener) {
    peer.offer(new LocalMessage(tensor, tag, listener));
  }

  private final class LocalMessage implements OfferedMessage {
    private final HostTensor tensor;
    private final int tag;
    private final Listener listener;

    LocalMessage(HostTensor tensor, int tag, Listener listener) {
      this.tensor = tensor;
      this.tag = tag;
      this.listener = listener;
    }

    @Override
    public int source() {
      return self;
    }

    @Override
    public int tag() {
      return tag;
    }

    @Override
    public DType dtype() {
      return tensor.dtype();
    }

    @Override
    public long count() {
      return tensor.count();
    }

    @Override
    public void accept(PostedReceive receive) {
      listener.matched();
      if (tensor.byteSize() <= COPY_AT_ONCE_BYTES) {
        copy(receive);
      } else {
        executor.execute(() -> copy(receive));
      }
    }

    private void copy(PostedReceive receive) {
      receive.fill(tensor);
      listener.sent();
    }

    @Override
    public void refuse(String why) {
      listener.failed(new CollectiveMismatchException(why));
    }
  }
}
