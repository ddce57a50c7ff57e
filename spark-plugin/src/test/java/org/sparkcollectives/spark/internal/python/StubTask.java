package org.sparkcollectives.spark.internal.python;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.List;
import org.sparkcollectives.GroupOptions;
import org.sparkcollectives.ProcessGroup;
import org.sparkcollectives.ProcessGroups;
import org.sparkcollectives.ReconfigurableGroup;
import org.sparkcollectives.spark.internal.elastic.QuorumReplica;
import org.sparkcollectives.store.HashStore;

/**
 * A task of one rank.
 *
 * @param group the group that its workers join
 * @param reports takes what its workers report; one that cannot be changed refuses it
 */
record StubTask(long attempt, ProcessGroup group, List<byte[]> reports) implements PythonTask {

  @Override
  public int rank() {
    return 0;
  }

  @Override
  public ProcessGroup join(GroupOptions options, int number) {
    return group;
  }

  @Override
  public ReconfigurableGroup reconfigurable(GroupOptions options, int number) {
    return ProcessGroups.reconfigurable(
        new HashStore(), 0, 1, options.withName("changing-" + number));
  }

  @Override
  public QuorumReplica replica(String run, int checkpointInterval) {
    throw new IllegalStateException("not in an elastic stage");
  }

  @Override
  public void report(byte[] message, boolean await) {
    reports.add(message);
  }

  /** Waits until the threads of all bridges have ended. */
  static void awaitEndOfThreads(Duration limit) throws InterruptedException {
    for (Thread each : Thread.getAllStackTraces().keySet()) {
      if (each.getName().startsWith("collectives-python")) {
        each.join(limit.toMillis());
        assertThat(each.isAlive()).as(each.getName()).isFalse();
      }
    }
  }
}
