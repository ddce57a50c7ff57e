package org.sparkcollectives.internal.engine;

import java.util.concurrent.atomic.AtomicLong;
import java.util.function.IntFunction;
import org.sparkcollectives.Work;
import org.sparkcollectives.internal.pointtopoint.MessageMatcher;
import org.sparkcollectives.internal.pointtopoint.MessagePath;
import org.sparkcollectives.internal.work.GroupMonitor;
import org.sparkcollectives.internal.work.TimeLimit;
import org.sparkcollectives.spi.OperationSpec;
import org.sparkcollectives.spi.tensor.HostTensor;

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
   * @param path to a peer, requested at the first message
   */
  public RankMessages(GroupMonitor monitor, MessageMatcher matcher, IntFunction<MessagePath> path) {
    this.monitor = monitor;
    this.matcher = matcher;
    this.path = path;
    this.paths = new MessagePath[monitor.members().size()];
  }

  /** Begins to send to a rank of the group. */
  public Work send(HostTensor tensor, int destination, int tag, TimeLimit limit) {
    MessageWork.Send work = new MessageWork.Send(monitor, limit, tensor, destination, tag);
    work.post(next.getAndIncrement(), () -> pathTo(destination));
    return work;
  }

  /** Returns the counter that numbers this rank's messages. */
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
    return receive(OperationSpec.recv(tensor, source, tag), tensor, limit);
  }

  /** Begins to receive from the rank that sends first. */
  public Work recvAny(HostTensor tensor, int tag, TimeLimit limit) {
    return receive(OperationSpec.recvAny(tensor, tag), tensor, limit);
  }

  private Work receive(OperationSpec spec, HostTensor tensor, TimeLimit limit) {
    MessageWork.Receive work = new MessageWork.Receive(monitor, spec, limit, tensor, matcher);
    work.post(next.getAndIncrement());
    return work;
  }
}
