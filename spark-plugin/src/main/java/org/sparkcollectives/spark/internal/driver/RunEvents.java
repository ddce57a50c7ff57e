package org.sparkcollectives.spark.internal.driver;

import com.codahale.metrics.MetricRegistry;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.LongAdder;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.LongSupplier;
import java.util.stream.IntStream;
import org.apache.spark.scheduler.SparkListenerEvent;
import org.sparkcollectives.spark.event.QuorumFormed;
import org.sparkcollectives.spark.event.ReplicaPlace;
import org.sparkcollectives.spark.event.RunEnded;
import org.sparkcollectives.spark.internal.metrics.CollectivesMetrics;
import org.sparkcollectives.spark.internal.protocol.Quorum;
import org.sparkcollectives.spark.internal.protocol.RunRequest;

/**
 * Posts the quorums of calls of {@code ElasticStage} as events, for the tab and the event log, and
 * counts them for the metrics. Thread-safe.
 */
final class RunEvents {

  /** How many quorums are posted at once. */
  static final int QUORUMS_AT_ONCE = 200;

  /** How many quorums are posted in a second, after those. */
  static final int QUORUMS_IN_A_SECOND = 2;

  /** The counts of one run. */
  private static final class Run {
    private int size;
    private long lost;
    private long healed;
    private boolean sharesExecutor;
  }

  private final LongSupplier millis;
  private final Consumer<String> warnings;
  private final Function<Long, RunRequest> tasks;
  private final EventRate rate;
  private final Map<String, Run> runs = new ConcurrentHashMap<>();
  private final LongAdder quorums = new LongAdder();
  private final LongAdder lost = new LongAdder();
  private final LongAdder healed = new LongAdder();
  private Consumer<SparkListenerEvent> bus = event -> {};

  /**
   * Creates the events of an application that has begun no run.
   *
   * @param millis the clock, since the epoch
   * @param warnings the log
   * @param tasks returns the replica that an incarnation is
   */
  RunEvents(LongSupplier millis, Consumer<String> warnings, Function<Long, RunRequest> tasks) {
    this.millis = millis;
    this.warnings = warnings;
    this.tasks = tasks;
    this.rate = new EventRate(millis, QUORUMS_AT_ONCE, QUORUMS_IN_A_SECOND);
  }

  /** Posts what comes from now on. */
  synchronized void post(Consumer<SparkListenerEvent> to) {
    bus = to;
  }

  /** Registers the gauges of the driver. */
  void register(MetricRegistry registry) {
    CollectivesMetrics.gauge(registry, "replicas", this::replicas);
    CollectivesMetrics.gauge(registry, "quorums", quorums::sum);
    CollectivesMetrics.gauge(registry, "steps.lost", lost::sum);
    CollectivesMetrics.gauge(registry, "replicas.healed", healed::sum);
  }

  private synchronized int replicas() {
    return runs.values().stream().mapToInt(each -> each.size).sum();
  }

  /**
   * Posts a quorum.
   *
   * @param lostAttempt whether the one before has lost an attempt of a step
   */
  synchronized void formed(String id, Quorum quorum, boolean lostAttempt) {
    Run run = runs.computeIfAbsent(id, each -> new Run());
    List<Integer> receivers = quorum.receivers();
    run.size = quorum.members().size();
    run.lost += lostAttempt ? 1 : 0;
    run.healed += receivers.size();
    quorums.increment();
    lost.add(lostAttempt ? 1 : 0);
    healed.add(receivers.size());
    List<ReplicaPlace> places =
        IntStream.range(0, run.size).mapToObj(rank -> place(quorum, rank, receivers)).toList();
    warnIfTogether(id, run, places);
    if (rate.allows()) {
      bus.accept(
          new QuorumFormed(
              Long.parseLong(id),
              millis.getAsLong(),
              quorum.id(),
              quorum.healed().step(),
              quorum.checkpoint() != null,
              run.lost,
              run.healed,
              run.size,
              places));
    }
  }

  private ReplicaPlace place(Quorum quorum, int rank, List<Integer> receivers) {
    Quorum.Member member = quorum.members().get(rank);
    RunRequest task = tasks.apply(member.incarnation());
    int source = receivers.contains(rank) ? quorum.source() : rank;
    return new ReplicaPlace(
        member.replica(),
        member.incarnation(),
        task.host(),
        task.executor(),
        quorum.members().get(source).replica());
  }

  /** Says so if one loss would take all replicas. */
  private void warnIfTogether(String id, Run run, List<ReplicaPlace> places) {
    boolean together =
        places.size() > 1 && places.stream().map(ReplicaPlace::executor).distinct().count() == 1;
    if (together && !run.sharesExecutor) {
      warnings.accept(
          "All "
              + places.size()
              + " replicas of run "
              + id
              + " are on executor "
              + places.get(0).executor()
              + " of "
              + places.get(0).host()
              + ": its loss loses the state. Set spark.executor.cores to spark.task.cpus, or use"
              + " withCheckpointInterval");
    }
    run.sharesExecutor = together;
  }

  /**
   * Posts the end of a run.
   *
   * @param failure why it failed; empty if it did not
   */
  synchronized void ended(String id, String failure) {
    runs.remove(id);
    bus.accept(new RunEnded(Long.parseLong(id), millis.getAsLong(), failure));
  }
}
