package org.sparkcollectives.spark.internal.driver;

import java.time.Duration;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.LongSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.sparkcollectives.spark.internal.metrics.Figures;
import org.sparkcollectives.spark.internal.metrics.OperationTotals;
import org.sparkcollectives.spark.internal.protocol.ExecutorReport;
import org.sparkcollectives.spark.internal.protocol.RankReport;
import org.sparkcollectives.spark.internal.protocol.StageAttempt;
import org.sparkcollectives.spi.LogContext;

/**
 * Collects in the driver what executors report of their ranks: keeps the newest of each rank, names
 * stragglers in the log, and tells listeners.
 *
 * <p>One thread does all of it; reports wait for it, up to a limit, and beyond that are dropped.
 * What others read is published by it once in a second.
 */
public final class StatisticsCollector {

  /** How often the collector looks at its groups. */
  static final Duration PERIOD = Duration.ofSeconds(1);

  private static final int MOST_ENDED_STAGES = 1_000;
  private static final long MOST_WAITING_BYTES = 32 << 20;

  /** The time in which the last reports of a stage's ranks arrive. */
  private static final long LAST_REPORTS_MILLIS = 2_000;

  /** The time in which the ranks of a failed group agree on the first cause, and dump. */
  private static final long SETTLE_MILLIS = 1_500;

  /** The time after a failure in which its dumps have been analysed. */
  private static final long FINDING_MILLIS = 6_000;

  private static final long WARN_MILLIS = TimeUnit.MINUTES.toMillis(1);

  private static final Logger LOG = LoggerFactory.getLogger(StatisticsCollector.class);

  private final Executor executor;
  private final Consumer<Runnable> afterPeriod;
  private final LongSupplier millis;
  private final long intervalMillis;
  private final Function<StageAttempt, FailureDump> dumps;
  private final List<StatisticsListener> listeners = new CopyOnWriteArrayList<>();
  private final AtomicLong waitingBytes = new AtomicLong();
  private volatile List<GroupSnapshot> published = List.of();
  private volatile ApplicationSums sums = ApplicationSums.NONE;

  // The executor's thread alone uses these.
  private final FollowedGroups groups = new FollowedGroups();
  private final ReportedProcesses processes = new ReportedProcesses();

  /** The stages that have ended last: the first report of a group may come after that. */
  private final Set<StageAttempt> endedStages = new LinkedHashSet<>();

  private boolean scheduled;
  private boolean full;
  private boolean over;

  /**
   * Creates a collector that has heard of nothing.
   *
   * @param executor of one thread
   * @param afterPeriod runs a step on that thread, after {@link #PERIOD}
   * @param millis the clock, since the epoch
   * @param interval how often executors report
   * @param dumps returns the dumps of a stage that has failed
   */
  StatisticsCollector(
      Executor executor,
      Consumer<Runnable> afterPeriod,
      LongSupplier millis,
      Duration interval,
      Function<StageAttempt, FailureDump> dumps) {
    this.executor = executor;
    this.afterPeriod = afterPeriod;
    this.millis = millis;
    this.intervalMillis = interval.toMillis();
    this.dumps = dumps;
  }

  /** Adds a listener, which hears of what happens from now on. */
  public void addListener(StatisticsListener listener) {
    listeners.add(listener);
  }

  /** Removes a listener. */
  public void removeListener(StatisticsListener listener) {
    listeners.remove(listener);
  }

  /** Returns the groups that are open, and those that have ended lately. */
  public List<GroupSnapshot> groups() {
    return published;
  }

  /** Returns the sums over all executors. */
  public ApplicationSums sums() {
    return sums;
  }

  /** Receives a report. Does not block. */
  void receive(byte[] report) {
    if (waitingBytes.addAndGet(report.length) > MOST_WAITING_BYTES) {
      waitingBytes.addAndGet(-report.length);
      return;
    }
    execute(
        () -> {
          waitingBytes.addAndGet(-report.length);
          add(ExecutorReport.decode(report));
        });
  }

  /** Notes that a stage has ended: its groups end, too. Does not block. */
  void stageEnded(StageAttempt stage) {
    execute(
        () -> {
          endedStages.add(stage);
          if (endedStages.size() > MOST_ENDED_STAGES) {
            endedStages.remove(endedStages.iterator().next());
          }
          long end = millis.getAsLong() + LAST_REPORTS_MILLIS;
          for (FollowedGroup each : groups.all()) {
            if (each.group.stage().equals(stage)) {
              each.endMillis = end;
            }
          }
        });
  }

  /**
   * Ends all groups, because the application has ended, and tells the listeners. Waits for that,
   * for a second at the most.
   */
  void applicationEnded() {
    CountDownLatch told = new CountDownLatch(1);
    execute(
        () -> {
          try {
            over = true;
            groups.all().forEach(each -> each.endMillis = 1);
            tick();
          } finally {
            told.countDown();
          }
        });
    try {
      if (!told.await(1, TimeUnit.SECONDS)) {
        LOG.debug("The listeners to statistics took too long to hear of the application's end");
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  private void execute(Runnable step) {
    try {
      executor.execute(
          () -> {
            try {
              step.run();
            } catch (RuntimeException | Error e) {
              LOG.warn("A report of statistics is dropped", e);
            }
          });
    } catch (RejectedExecutionException e) {
      LOG.debug("Statistics came after the end of the application");
    }
  }

  private void add(ExecutorReport report) {
    long now = millis.getAsLong();
    processes.add(report.executorId(), report.process(), now);
    for (RankReport each : report.ranks()) {
      FollowedGroup followed = follow(each, now);
      if (followed != null) {
        followed.group.add(report.host(), report.executorId(), each, now);
        followed.changed = true;
      }
    }
    schedule();
  }

  private FollowedGroup follow(RankReport report, long now) {
    FollowedGroup known = groups.get(report);
    if (known != null) {
      return known;
    }
    FollowedGroup made = groups.add(report, now);
    if (made == null) {
      if (!full) {
        LOG.warn(
            "There are more than {} groups: further ones are not watched", FollowedGroups.MOST);
      }
      full = true;
    } else if (endedStages.contains(report.stage())) {
      made.endMillis = now + LAST_REPORTS_MILLIS;
    }
    return made;
  }

  private void schedule() {
    boolean awaitsMore = groups.all().stream().anyMatch(each -> !each.endTold);
    if (!scheduled && (awaitsMore || sums.figures().process().connections() > 0)) {
      scheduled = true;
      try {
        afterPeriod.accept(
            () -> {
              scheduled = false;
              tick();
            });
      } catch (RejectedExecutionException e) {
        LOG.debug("The application has ended");
      }
    }
  }

  /** Looks at all groups of which reports have come. Called once in a second. */
  private void tick() {
    long now = millis.getAsLong();
    for (FollowedGroup each : groups.all()) {
      if (!each.endTold) {
        look(each, now);
      }
    }
    groups.forgetSurplus();
    publish(now);
    schedule();
  }

  private void look(FollowedGroup each, long now) {
    ReportedGroup group = each.group;
    if (each.endMillis > 0 && now >= each.endMillis) {
      group.end();
    }
    boolean ended = group.hasEnded();
    boolean due = each.changed && now - each.toldMillis >= intervalMillis;
    if (!due && !ended && group.failure().isEmpty()) {
      return;
    }
    boolean made = each.snapshot == null;
    if (each.changed || ended) {
      group.compareArrivals();
      each.snapshot = group.snapshot();
      each.changed = false;
    }
    if (made) {
      tell(listener -> listener.onGroupMade(each.snapshot));
    }
    boolean failureAwaited = group.failure().isPresent() && !each.failureTold;
    if (failureAwaited) {
      FailureDump dump = dumps.apply(group.stage());
      long patience = dump.awaitsFinding() ? FINDING_MILLIS : SETTLE_MILLIS;
      if (over || now - group.failureMillis() >= patience) {
        each.failureTold = true;
        failureAwaited = false;
        GroupFailure failure = group.describe(group.failure().get(), dump);
        tell(listener -> listener.onFailure(failure));
      }
    }
    if (ended && !failureAwaited) {
      each.endTold = true;
      tell(listener -> listener.onGroupEnded(each.snapshot));
    } else if (due && !ended) {
      each.toldMillis = now;
      warn(each, now);
      tell(listener -> listener.onStatistics(each.snapshot));
    }
  }

  private void warn(FollowedGroup each, long now) {
    for (RankSnapshot rank : each.snapshot.ranks()) {
      Long before = each.warned.get(rank.rank());
      if (rank.straggler() && (before == null || now - before >= WARN_MILLIS)) {
        each.warned.put(rank.rank(), now);
        LogContext.of(each.snapshot.group(), rank.rank()).run(() -> warn(each.snapshot, rank));
      }
    }
  }

  private static void warn(GroupSnapshot group, RankSnapshot rank) {
    LOG.warn(
        "Rank {} of group {} ({}, executor {}, task {}) is slower than the others: between"
            + " collectives it takes {} % longer than the median rank. It came last in {} of {}"
            + " collectives that were compared",
        rank.rank(),
        group.group(),
        rank.host(),
        rank.executorId(),
        rank.taskAttemptId(),
        Math.round(100 * rank.slowness()),
        rank.arrivedLast(),
        group.samples());
  }

  private void tell(Consumer<StatisticsListener> event) {
    for (StatisticsListener each : listeners) {
      try {
        event.accept(each);
      } catch (RuntimeException | LinkageError e) {
        LOG.warn("A listener to the statistics of groups failed", e);
      }
    }
  }

  private void publish(long now) {
    List<GroupSnapshot> all = new ArrayList<>(groups.all().size());
    OperationTotals total = groups.forgotten();
    double progress = 0;
    int active = 0;
    int ranks = 0;
    Set<String> stragglers = new HashSet<>();
    for (FollowedGroup each : groups.all()) {
      if (each.snapshot == null) {
        continue;
      }
      all.add(each.snapshot);
      total = total.plus(each.snapshot.sums());
      progress = each.snapshot.progress().total() > 0 ? each.snapshot.progress().share() : progress;
      if (!each.endTold) {
        active++;
        ranks += each.snapshot.ranks().size();
        each.snapshot.ranks().stream()
            .filter(RankSnapshot::straggler)
            .forEach(rank -> stragglers.add(each.snapshot.group() + " " + rank.rank()));
      }
    }
    published = List.copyOf(all);
    Figures figures = new Figures(total, active, processes.sum(now));
    sums = new ApplicationSums(figures, ranks, stragglers.size(), progress);
  }
}
