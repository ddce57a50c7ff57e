package org.sparkcollectives.internal.engine;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import org.sparkcollectives.CollectiveException;
import org.sparkcollectives.Tensor;
import org.sparkcollectives.internal.work.GroupMonitor;
import org.sparkcollectives.internal.work.TimeLimit;
import org.sparkcollectives.spi.BackendOperation;
import org.sparkcollectives.spi.BackendOperations;
import org.sparkcollectives.spi.OperationSpec;

/** Takes the operations of other backends into a group's sequence, and monitors them. */
public final class GroupOperations implements BackendOperations {

  private final String backend;
  private final GroupMonitor monitor;
  private final OperationQueue queue;
  private final AtomicLong messages;

  /** Null if the ranks do not compare their calls. */
  private final CallComparison comparison;

  /**
   * Creates the operations of the group that the queue belongs to.
   *
   * @param backend the name of the backend that carries them out
   * @param queue numbers the collectives
   * @param messages numbers the messages
   * @param comparison of the ranks' calls; null for none
   */
  public GroupOperations(
      String backend, OperationQueue queue, AtomicLong messages, CallComparison comparison) {
    this.backend = backend;
    this.monitor = queue.monitor();
    this.queue = queue;
    this.messages = messages;
    this.comparison = comparison;
  }

  @Override
  public Begun begin(
      OperationSpec spec, Duration timeout, List<Tensor> outputs, BackendOperation operation) {
    BackendCall call =
        new BackendCall(backend, spec, new TimeLimit(timeout, timeout), outputs, operation);
    boolean message = spec.type().isPointToPoint();
    if (comparison != null && !message) {
      ComparedWork work = queue.submit(new ComparedWork(queue, call, comparison));
      work.awaitComparison();
      return work;
    }
    BackendWork work = new BackendWork(queue, call);
    if (message) {
      work.begin(messages.getAndIncrement());
      return work;
    }
    return queue.begin(work);
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
    monitor.reports().failed(cause);
  }
}
