package org.sparkcollectives.internal.engine;

import java.util.List;
import java.util.function.Supplier;
import org.sparkcollectives.Tensor;
import org.sparkcollectives.internal.liveness.LeaveTracker;
import org.sparkcollectives.internal.pointtopoint.MessageMatcher;
import org.sparkcollectives.internal.pointtopoint.MessagePath;
import org.sparkcollectives.internal.pointtopoint.PostedReceive;
import org.sparkcollectives.internal.pointtopoint.PostedSend;
import org.sparkcollectives.internal.work.GroupMonitor;
import org.sparkcollectives.internal.work.PendingWork;
import org.sparkcollectives.internal.work.TimeLimit;
import org.sparkcollectives.spi.OperationSpec;
import org.sparkcollectives.spi.tensor.HostTensor;

/**
 * A message to or from a peer. No thread runs it; the thread that brings about its end completes
 * it.
 */
abstract class MessageWork extends PendingWork {

  /** The peer, or {@link PostedReceive#ANY_SOURCE}. */
  private volatile int peer;

  private volatile boolean matched;

  MessageWork(
      GroupMonitor monitor,
      OperationSpec spec,
      TimeLimit limit,
      List<Tensor> inputs,
      List<Tensor> outputs) {
    super(monitor, spec, limit, inputs, outputs);
    this.peer = spec.peer();
  }

  final int peer() {
    return peer;
  }

  final void matchedWith(int who) {
    peer = who;
    recordPeer(who);
    matched = true;
    started();
  }

  @Override
  protected void help(long nanos) {
    // The waiting thread has nothing to do.
  }

  @Override
  public int departedPeer(LeaveTracker leaves) {
    int left = leftPeer(leaves);
    // This is read last: a peer may match this message and leave between the two reads.
    return matched ? -1 : left;
  }

  /** Returns the peer, or any of those who all have left, or -1. */
  private int leftPeer(LeaveTracker leaves) {
    if (peer != PostedReceive.ANY_SOURCE) {
      return leaves.hasLeft(peer) ? peer : -1;
    }
    int self = monitor().members().rank();
    int left = -1;
    for (int each = 0; each < monitor().members().size(); each++) {
      if (each != self && !leaves.hasLeft(each)) {
        return -1;
      }
      left = each == self ? left : each;
    }
    return left;
  }

  @Override
  public int lateRank() {
    return matched ? -1 : peer;
  }

  @Override
  public String missingRanks() {
    if (peer == PostedReceive.ANY_SOURCE) {
      return "no rank has sent a message that matches";
    }
    String who = monitor().members().places().get(peer);
    return matched
        ? "the message to or from " + who + " did not get through"
        : who + " has not called the operation that matches";
  }

  /** A send. */
  static final class Send extends MessageWork implements PostedSend.Listener {
    private final PostedSend posted;

    Send(GroupMonitor monitor, TimeLimit limit, HostTensor tensor, int destination, int tag) {
      super(
          monitor, OperationSpec.send(tensor, destination, tag), limit, List.of(tensor), List.of());
      this.posted = new PostedSend(tag, tensor, this);
    }

    /**
     * Sends the message over a path that is asked for once the work keeps the group's paths open.
     */
    void post(long number, Supplier<MessagePath> path) {
      begin(number);
      try {
        path.get().send(posted);
      } catch (RuntimeException | Error e) {
        failed(e);
      }
    }

    @Override
    public void matched() {
      matchedWith(peer());
    }

    @Override
    public void sent() {
      complete(null);
    }

    @Override
    public void failed(Throwable cause) {
      monitor().reports().messageFailed(this, cause);
    }

    @Override
    public void groupFailed() {
      posted.cancel();
      complete(monitor().state().exceptionFor(describe()));
    }
  }

  /** A receive. */
  static final class Receive extends MessageWork implements PostedReceive.Listener {
    private final MessageMatcher matcher;
    private final PostedReceive posted;

    Receive(
        GroupMonitor monitor,
        OperationSpec spec,
        TimeLimit limit,
        HostTensor tensor,
        MessageMatcher matcher) {
      super(monitor, spec, limit, List.of(), List.of(tensor));
      this.matcher = matcher;
      this.posted = new PostedReceive(spec.peer(), spec.tag(), tensor, this);
    }

    void post(long number) {
      begin(number);
      try {
        matcher.post(posted);
      } catch (RuntimeException | Error e) {
        failed(e);
      }
    }

    @Override
    public void matched(int source) {
      matchedWith(source);
    }

    @Override
    public void received() {
      complete(null);
    }

    @Override
    public void failed(Throwable cause) {
      monitor().reports().messageFailed(this, cause);
    }

    @Override
    public void groupFailed() {
      // In this order: what is not posted yet when it is withdrawn is over when it is posted.
      posted.cancel();
      matcher.withdraw(posted);
      complete(monitor().state().exceptionFor(describe()));
    }

    @Override
    public int sourceRank() {
      if (!isSuccess()) {
        throw new IllegalStateException(
            describe() + " has no source rank, because it is not done well");
      }
      return peer();
    }
  }
}
