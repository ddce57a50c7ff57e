package org.sparkcollectives.internal.work;

import java.time.Duration;
import java.util.List;
import org.sparkcollectives.internal.liveness.LeaveTracker;
import org.sparkcollectives.spi.OperationSpec;

/** Work that no thread does: the test ends it. */
public final class StubWork extends PendingWork {

  static final Duration TIMEOUT = Duration.ofSeconds(30);

  private StubWork(GroupMonitor monitor) {
    super(monitor, OperationSpec.barrier(), new TimeLimit(TIMEOUT, TIMEOUT), List.of());
  }

  /** Returns a barrier that has begun. */
  public static StubWork begun(GroupMonitor monitor, long number) {
    StubWork work = new StubWork(monitor);
    work.begin(number);
    return work;
  }

  @Override
  protected void help(long nanos) {}

  @Override
  public void groupFailed() {
    complete(monitor().state().exceptionFor(describe()));
  }

  @Override
  public int departedPeer(LeaveTracker leaves) {
    return leaves.leftBefore(sequenceNumber());
  }

  @Override
  public String missingRanks() {
    return "who is missing is not known";
  }
}
