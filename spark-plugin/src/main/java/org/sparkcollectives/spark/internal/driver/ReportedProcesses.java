package org.sparkcollectives.spark.internal.driver;

import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.sparkcollectives.spark.internal.protocol.ProcessStatistics;

/** Keeps what executors have last reported of their processes. For one thread. */
final class ReportedProcesses {

  private static final int MOST_PROCESSES = 10_000;

  /** The time without a report after which a process is thought to hold nothing. */
  private static final long SILENCE_MILLIS = TimeUnit.SECONDS.toMillis(10);

  private final Map<String, Reported> processes = new HashMap<>();

  private record Reported(ProcessStatistics statistics, long atMillis) {}

  void add(String executorId, ProcessStatistics statistics, long nowMillis) {
    if (processes.size() < MOST_PROCESSES || processes.containsKey(executorId)) {
      processes.put(executorId, new Reported(statistics, nowMillis));
    }
  }

  /** Returns the sums over all processes. */
  ProcessStatistics sum(long nowMillis) {
    long sent = 0;
    long connections = 0;
    long shared = 0;
    for (Reported each : processes.values()) {
      sent += each.statistics().bytesSent();
      if (nowMillis - each.atMillis() < SILENCE_MILLIS) {
        connections += each.statistics().connections();
        shared += each.statistics().sharedBytes();
      }
    }
    return new ProcessStatistics(sent, connections, shared);
  }
}
