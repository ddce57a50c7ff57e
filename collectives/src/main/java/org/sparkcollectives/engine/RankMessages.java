package org.sparkcollectives.engine;

import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.IntFunction;
import org.sparkcollectives.OpType;
import org.sparkcollectives.Work;
import org.sparkcollectives.internal.failure.GroupMonitor;
import org.sparkcollectives.internal.failure.OperationDescription;
import org.sparkcollectives.internal.failure.TimeLimit;
import org.sparkcollectives.pointtopoint.MessageMatcher;
import org.sparkcollectives.pointtopoint.MessagePath;
import org.sparkcollectives.pointtopoint.PostedReceive;
import org.sparkcollectives.recorder.RecordedShapes;
import org.sparkcollectives.tensor.HostTensor;

/**
 * The messages of one rank in a group: numbers them, sends its own over the paths to its peers, and
 * posts its receives where they arrive. Thread-safe; nothing blocks.
 */
public final class RankMessages {

  private final GroupMonitor monitor;
  private final MessageMatcher matcher;
  private final IntFunction<MessagePath> path;
  private final MessagePath[] paths;
  private final AtomicLong next = new AtomicLong();

  /**
   * Creates the messages of the rank whose monitor this is.
   *
   * @param matcher where this rank's messages arrive
   * @param path to a peer, asked for at the first message
   */
  public RankMessages(GroupMonitor monitor, MessageMatcher matcher, IntFunction<MessagePath> path) {
    this.monitor = monitor;
    this.matcher = matcher;
    this.path = path;
    this.paths = new MessagePath[monitor.members().size()];
  }

  /** Begins to send to a rank of the group. */
  public Work send(HostTensor tensor, int destination, int tag, TimeLimit limit) {
    MessageWork.Send work =
        new MessageWork.Send(
            monitor,
            OperationDescription.message(
                    OpType.SEND,
                    tensor.dtype(),
                    tensor.count(),
                    0,
                    "to rank " + destination + ", tag " + tag)
                .shaped(RecordedShapes.of(List.of(tensor), List.of())),
            next.getAndIncrement(),
            limit,
            tensor,
            destination,
            tag);
    work.post(() -> pathTo(destination));
    return work;
  }

  /** Where this rank's messages are counted. */
  public AtomicLong numbers() {
    return next;
  }

  private synchronized MessagePath pathTo(int peer) {
    if (paths[peer] == null) {
      paths[peer] = path.apply(peer);
    }
    return paths[peer];
  }

  /** Begins to receive from a rank of the group. */
  public Work recv(HostTensor tensor, int source, int tag, TimeLimit limit) {
    return receive(OpType.RECV, tensor, source, tag, "from rank " + source, limit);
  }

  /** Begins to receive from whichever rank sends first. */
  public Work recvAny(HostTensor tensor, int tag, TimeLimit limit) {
    return receive(OpType.RECV_ANY, tensor, PostedReceive.ANY_SOURCE, tag, "from any rank", limit);
  }

  private Work receive(
      OpType type, HostTensor tensor, int source, int tag, String from, TimeLimit limit) {
    MessageWork.Receive work =
        new MessageWork.Receive(
            monitor,
            OperationDescription.message(
                    type, tensor.dtype(), 0, tensor.count(), from + ", tag " + tag)
                .shaped(RecordedShapes.of(List.of(), List.of(tensor))),
            next.getAndIncrement(),
            limit,
            tensor,
            source,
            tag,
            matcher);
    work.post();
    return work;
  }
}
