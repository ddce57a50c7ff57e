package org.sparkcollectives.spark.internal.executor;

import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.sparkcollectives.GroupStatistics;
import org.sparkcollectives.ProcessGroup;
import org.sparkcollectives.spark.internal.metrics.Figures;
import org.sparkcollectives.spark.internal.metrics.OperationTotals;
import org.sparkcollectives.spark.internal.metrics.StageAccumulators;
import org.sparkcollectives.spark.internal.protocol.ExecutorReport;
import org.sparkcollectives.spark.internal.protocol.ProcessStatistics;
import org.sparkcollectives.spark.internal.protocol.RankReport;
import org.sparkcollectives.spark.internal.protocol.StageAttempt;
import org.sparkcollectives.spark.internal.protocol.StoreMessages;

/**
 * Sends the statistics of all open groups of this process to the driver, at intervals and at the
 * end of each group. Thread-safe.
 *
 * <p>Nothing waits for it: while the driver does not answer, what is due is dropped, except for the
 * last reports of groups, of which a bounded number waits.
 */
final class StatisticsSender {

  /** How many last reports may wait for the driver. */
  private static final int MOST_LAST_REPORTS = 256;

  /** After this time without an answer the next report is sent all the same. */
  private static final Duration PATIENCE = Duration.ofSeconds(30);

  private static final Logger LOG = LoggerFactory.getLogger(StatisticsSender.class);

  private final Origin origin;
  private final Duration interval;
  private final ScheduledExecutorService executor;

  /** The groups that are open, each with what reports of it say besides. */
  private final Map<Member, Open> open = new LinkedHashMap<>();

  private final List<RankReport> last = new ArrayList<>();
  private OperationTotals closed = OperationTotals.NONE;
  private DriverLink driver;
  private boolean scheduled;
  private int unanswered;
  private long sentNanos;

  /**
   * The process that sends.
   *
   * @param statistics returns what it holds now
   */
  record Origin(String executorId, String host, Supplier<ProcessStatistics> statistics) {}

  private record Member(long taskAttemptId, String group) {}

  /** A group of a rank that is open. */
  private static final class Open {
    private final StageAttempt stage;
    private final ProcessGroup group;
    private final Optional<StageAccumulators> accumulators;

    // What the accumulators have already.
    private long bytes;
    private double seconds;

    private Open(StageAttempt stage, ProcessGroup group, Optional<StageAccumulators> accumulators) {
      this.stage = stage;
      this.group = group;
      this.accumulators = accumulators;
    }

    private void accumulate(GroupStatistics statistics) {
      accumulators.ifPresent(
          to -> to.add(statistics.bytes() - bytes, statistics.collectiveSeconds() - seconds));
      bytes = statistics.bytes();
      seconds = statistics.collectiveSeconds();
    }
  }

  /**
   * Creates a sender that has nothing to send.
   *
   * @param interval between reports; zero sends none
   * @param executor runs what is to be done at intervals
   */
  StatisticsSender(Origin origin, Duration interval, ScheduledExecutorService executor) {
    this.origin = origin;
    this.interval = interval;
    this.executor = executor;
  }

  /** Returns the sums over all groups of this process, those that have ended included. */
  synchronized Figures figures() {
    OperationTotals totals = closed;
    for (Open each : open.values()) {
      totals = totals.plus(OperationTotals.of(each.group.statistics(), true));
    }
    return new Figures(totals, open.size(), origin.statistics().get());
  }

  /**
   * Begins to report a group of a rank. Does not block.
   *
   * @param link the way to the driver; null if the driver has no store, and takes no reports
   * @param accumulators of the task
   */
  synchronized void opened(
      DriverLink link,
      StageAttempt stage,
      long taskAttemptId,
      ProcessGroup group,
      Optional<StageAccumulators> accumulators) {
    driver = link;
    open.put(new Member(taskAttemptId, group.name()), new Open(stage, group, accumulators));
    schedule();
  }

  private void schedule() {
    if (!scheduled && reports() && !(open.isEmpty() && last.isEmpty())) {
      scheduled = true;
      executor.schedule(this::tick, interval.toNanos(), TimeUnit.NANOSECONDS);
    }
  }

  private boolean reports() {
    return driver != null && !interval.isZero();
  }

  private void tick() {
    try {
      send(true);
    } catch (RuntimeException | Error e) {
      LOG.debug("Statistics could not be sent", e);
    } finally {
      synchronized (this) {
        scheduled = false;
        schedule();
      }
    }
  }

  /** Sends the last report of a group that the rank has left. Does not block. */
  void left(long taskAttemptId, String group) {
    synchronized (this) {
      Member member = new Member(taskAttemptId, group);
      Open ended = open.remove(member);
      if (ended == null) {
        return;
      }
      RankReport report = report(member, ended, true);
      closed = closed.plus(OperationTotals.of(report.statistics(), false));
      if (!reports()) {
        driver = open.isEmpty() ? null : driver;
        return;
      }
      if (last.size() < MOST_LAST_REPORTS) {
        last.add(report);
      }
      schedule();
    }
    send(false);
  }

  private static RankReport report(Member member, Open open, boolean ended) {
    GroupStatistics statistics = open.group.statistics();
    open.accumulate(statistics);
    return new RankReport(
        open.stage, member.taskAttemptId(), ended, open.group.failure(), statistics);
  }

  /**
   * Sends what is due, unless the driver has not answered yet.
   *
   * @param all whether groups that are open are due
   */
  private void send(boolean all) {
    DriverLink link;
    List<byte[]> messages = new ArrayList<>();
    synchronized (this) {
      long now = System.nanoTime();
      if (unanswered > 0 && now - sentNanos < PATIENCE.toNanos()) {
        return;
      }
      List<RankReport> due = new ArrayList<>(last);
      last.clear();
      if (all) {
        open.forEach((member, each) -> due.add(report(member, each, false)));
      }
      for (int i = 0; i < due.size(); i += ExecutorReport.MOST_RANKS) {
        int end = Math.min(due.size(), i + ExecutorReport.MOST_RANKS);
        ExecutorReport report =
            new ExecutorReport(
                origin.executorId(), origin.host(), origin.statistics().get(), due.subList(i, end));
        messages.add(StoreMessages.statistics(new UUID(0, 0), report.encode()));
      }
      unanswered = messages.size();
      sentNanos = now;
      link = driver;
      if (open.isEmpty()) {
        // It holds the environment of the application, which may be over.
        driver = null;
      }
    }
    for (byte[] message : messages) {
      CompletableFuture<byte[]> reply = link.ask(message);
      reply.whenComplete((nothing, cause) -> answered(cause));
    }
  }

  private void answered(Throwable cause) {
    if (cause != null) {
      LOG.debug("The driver did not take statistics: {}", cause.toString());
    }
    boolean more;
    synchronized (this) {
      unanswered = Math.max(0, unanswered - 1);
      more = unanswered == 0 && !last.isEmpty() && cause == null;
    }
    if (more) {
      send(false);
    }
  }
}
