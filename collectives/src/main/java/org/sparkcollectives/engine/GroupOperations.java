package org.sparkcollectives.engine;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongFunction;
import org.sparkcollectives.BackendCall;
import org.sparkcollectives.BackendOperation;
import org.sparkcollectives.BackendOperations;
import org.sparkcollectives.CollectiveException;
import org.sparkcollectives.OpType;
import org.sparkcollectives.Tensor;
import org.sparkcollectives.internal.failure.GroupMonitor;
import org.sparkcollectives.internal.failure.OperationDescription;
import org.sparkcollectives.internal.failure.TimeLimit;
import org.sparkcollectives.transport.OperationHeader;

/** Takes the operations of other backends into a group's sequence, and has them monitored. */
public final class GroupOperations implements BackendOperations {

  private final GroupMonitor monitor;
  private final Channel channel;
  private final AtomicLong messages;

  /** Null if the ranks do not compare what they call. */
  private final CallComparison comparison;

  /**
   * Creates the operations of the group whose monitor this is.
   *
   * @param channel which numbers collectives
   * @param messages which numbers messages
   * @param comparison of what the ranks call; null for none
   */
  public GroupOperations(
      GroupMonitor monitor, Channel channel, AtomicLong messages, CallComparison comparison) {
    this.monitor = monitor;
    this.channel = channel;
    this.messages = messages;
    this.comparison = comparison;
  }

  @Override
  public Begun begin(
      BackendCall call, Duration timeout, List<Tensor> outputs, BackendOperation operation) {
    TimeLimit limit = new TimeLimit(timeout, timeout);
    OperationDescription description = describe(call);
    if (comparison != null && !call.type().isPointToPoint()) {
      ComparedWork work =
          channel.submit(
              number ->
                  new ComparedWork(
                      channel,
                      monitor,
                      description,
                      number,
                      limit,
                      outputs,
                      call,
                      operation,
                      comparison));
      work.awaitComparison();
      return work;
    }
    LongFunction<BackendWork> make =
        number ->
            new BackendWork(
                channel, monitor, description, number, limit, outputs, call.peer(), operation);
    if (!call.type().isPointToPoint()) {
      return channel.begin(make);
    }
    BackendWork work = make.apply(messages.getAndIncrement());
    work.begin();
    return work;
  }

  private static OperationDescription describe(BackendCall call) {
    if (call.type().isPointToPoint()) {
      String direction = call.type() == OpType.SEND ? "to rank " : "from rank ";
      return OperationDescription.message(
              call.type(),
              call.dtype(),
              call.inputCount(),
              call.outputCount(),
              direction + call.peer() + (call.tag() >= 0 ? ", tag " + call.tag() : ""))
          .shaped(call.shapes());
    }
    return new OperationDescription(
        call.type(),
        call.dtype(),
        call.inputCount(),
        call.outputCount(),
        call.agreedCount(),
        call.reduction(),
        call.root() < 0 ? OperationHeader.NO_ROOT : call.root(),
        0,
        "",
        call.shapes());
  }

  @Override
  public boolean hasFailed() {
    return monitor.state().failed();
  }

  @Override
  public CollectiveException exceptionFor(String operation) {
    return monitor.state().exceptionFor(operation);
  }

  @Override
  public void onFailure(Runnable listener) {
    monitor.state().onFailure(listener);
  }

  @Override
  public void fail(Throwable cause) {
    monitor.reports().backendFailed(cause);
  }
}
