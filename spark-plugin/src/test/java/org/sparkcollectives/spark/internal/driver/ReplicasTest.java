package org.sparkcollectives.spark.internal.driver;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Predicate;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.sparkcollectives.ReduceOp;
import org.sparkcollectives.Tensor;
import org.sparkcollectives.spark.elastic.RunOverException;
import org.sparkcollectives.spark.internal.elastic.QuorumReplica;
import org.sparkcollectives.spark.internal.protocol.Quorum;
import org.sparkcollectives.spark.internal.protocol.QuorumRequest;
import org.sparkcollectives.spark.internal.protocol.RunKeys;
import org.sparkcollectives.spark.internal.protocol.StateVersion;
import org.sparkcollectives.store.StoreException;
import org.sparkcollectives.testing.Threads;

/** Trains replicas that are threads, over the driver's store without Spark. */
@Timeout(300)
class ReplicasTest {

  private static final int REPLICAS = 3;
  private static final long[][] PHASES = {{0b111, 3}, {0b101, 3}, {0b111, 5}};
  private static final String LAYOUT = "history INT64[200000], weights FLOAT64[3]";

  private final ReplicaThreads replicas = new ReplicaThreads(REPLICAS, 2);
  private final Threads threads = new Threads();

  /** Ends when there were enough steps without replica 1. */
  private final CountDownLatch without = new CountDownLatch(1);

  @AfterEach
  void close() {
    replicas.close();
    threads.close();
  }

  /** A task, and what it trains. */
  private final class Task {

    private final ReplicaThreads.Task task;
    private final QuorumReplica replica;
    private final double[] weights = {0.5, 1.5, 2.5};

    /** For each step, the sum of {@code 1 << replica} over its participants. */
    private final long[] history = new long[200_000];

    Task(int number) {
      this(number, 0);
    }

    Task(int number, int checkpointInterval) {
      task = replicas.begin(number, checkpointInterval);
      replica = task.replica();
      replica.state("weights", Tensor.of(weights));
      replica.state("history", Tensor.of(history));
    }

    /** Takes a step, until it is committed; begun by {@link QuorumReplica#startQuorum}. */
    void step() {
      do {
        int step = (int) replica.startQuorum();
        double[] gradient = gradient(replica.replicaId(), step);
        long[] participants = {1L << replica.replicaId()};
        replica.allReduce(Tensor.of(gradient), ReduceOp.SUM);
        replica.allReduce(Tensor.of(participants), ReduceOp.SUM);
        if (replica.shouldCommit()) {
          descend(weights, gradient, replica.numParticipants());
          history[step] = participants[0];
          return;
        }
      } while (true);
    }

    /** Adds up a number of each partition, and how many there are, until all replicas are there. */
    double[] sumsUntilAllAreThere() {
      while (true) {
        replica.startQuorum();
        double[] sum =
            replica.sumOverPartitions(
                replica.partitions().stream().map(each -> new double[] {1 << each, 1}).toList());
        if (replica.shouldCommit()) {
          assertThat(sum).containsExactly(0b111, 3);
          if (replica.numParticipants() == REPLICAS) {
            return sum;
          }
        }
      }
    }

    void until(long steps) {
      while (replica.currentStep() < steps) {
        step();
      }
    }

    /** Returns how many phases are over: three steps of all, three without one, five of all. */
    int phases() {
      int phase = 0;
      int count = 0;
      for (int step = 0; step < replica.currentStep() && phase < PHASES.length; step++) {
        count = history[step] == PHASES[phase][0] ? count + 1 : 0;
        if (count == PHASES[phase][1]) {
          phase++;
          count = 0;
        }
      }
      return phase;
    }

    void dies() {
      task.dies();
    }

    /** Returns what the committed steps must have given. */
    double[] replay() {
      double[] replayed = {0.5, 1.5, 2.5};
      for (int step = 0; step < replica.currentStep(); step++) {
        double[] sum = new double[3];
        for (int each = 0; each < REPLICAS; each++) {
          if ((history[step] & 1L << each) != 0) {
            double[] own = gradient(each, step);
            for (int i = 0; i < 3; i++) {
              sum[i] += own[i];
            }
          }
        }
        descend(replayed, sum, Long.bitCount(history[step]));
      }
      return replayed;
    }
  }

  /** Whole numbers, so that sums do not depend on the order. */
  private static double[] gradient(int replica, long step) {
    return new double[] {replica + step, replica * step, replica - step};
  }

  private static void descend(double[] weights, double[] sum, int participants) {
    for (int i = 0; i < weights.length; i++) {
      weights[i] -= 0.01 * (sum[i] / participants);
    }
  }

  private Future<Task> trains(Task task, long steps) {
    return threads.start(
        () -> {
          task.until(steps);
          return task;
        });
  }

  private static void assertSameState(List<Task> tasks) {
    for (Task each : tasks) {
      assertThat(each.weights).isEqualTo(tasks.get(0).weights).isEqualTo(each.replay());
      assertThat(each.history).isEqualTo(tasks.get(0).history);
    }
  }

  @Test
  void replicasTakeStepsTogetherFromTheStateOfTheFirst() throws Exception {
    Task first = new Task(0);
    Task second = new Task(1);
    second.weights[0] = 99;
    List<Future<Task>> all = List.of(trains(first, 20), trains(second, 20));
    for (Future<Task> each : all) {
      assertThat(Threads.result(each).replica.currentStep()).isEqualTo(20);
    }
    assertSameState(List.of(first, second));
    assertThat(first.replica.numParticipants()).isEqualTo(2);
    assertThat(second.replica.participatingRank()).isEqualTo(1);
    assertThat(first.replica.quorumId()).isEqualTo(1);
  }

  @Test
  void survivorsGoOnAndAReplacementReceivesTheirState() throws Exception {
    Task lost = new Task(1);
    List<Future<Task>> survivors =
        List.of(trainsThroughALoss(new Task(0)), trainsThroughALoss(new Task(2)));
    while (lost.phases() < 1) {
      lost.step();
    }
    lost.replica.startQuorum(); // The others are in this step when it dies.
    lost.dies();
    without.await();
    Future<Task> replacement = trainsThroughALoss(new Task(1));

    List<Task> all = new ArrayList<>();
    for (Future<Task> each : List.of(survivors.get(0), survivors.get(1), replacement)) {
      all.add(Threads.result(each));
    }
    assertSameState(all);
  }

  private Future<Task> trainsThroughALoss(Task task) {
    return threads.start(
        () -> {
          while (task.phases() < PHASES.length) {
            task.step();
            if (task.phases() == 2) {
              without.countDown();
            }
          }
          return task;
        });
  }

  @Test
  void aDeathInTheFirstMeetingLosesNothing() throws Exception {
    Task lost = new Task(0);
    Task survivor = new Task(1);
    Future<Task> trained = trains(survivor, 10);
    // The quorum is decided as soon as both have asked; this one does not come to the meeting.
    CompletableFuture<Quorum> decided =
        lost.task
            .store()
            .askQuorum(
                new QuorumRequest(
                    lost.task.group().handle(), LAYOUT, StateVersion.NONE, false, List.of()));
    assertThat(Threads.result(decided).members()).hasSize(2);
    lost.dies();
    Task replacement = new Task(0);
    Threads.result(trains(replacement, 10));
    Threads.result(trained);
    assertSameState(List.of(survivor, replacement));
  }

  @Test
  void whatFunctionsHaveWrittenHealsAndIsRestored() throws Exception {
    AtomicReference<String> first = new AtomicReference<>("of the first");
    AtomicReference<String> second = new AtomicReference<>("");
    AtomicReference<String> restored = new AtomicReference<>("");
    List<Task> lost = List.of(written(0, first), written(1, second));
    List<Future<Task>> trained = List.of(trains(lost.get(0), 5), trains(lost.get(1), 5));
    for (Future<Task> each : trained) {
      Threads.result(each);
    }
    assertThat(second.get()).isEqualTo("of the first");
    first.set("after five steps");
    Future<Long> kept = threads.start(lost.get(1).replica::startQuorum);
    lost.get(0).replica.startQuorum();
    Threads.result(kept);
    lost.forEach(Task::dies);
    Task next = written(0, restored);
    Future<Long> other = threads.start(written(1, new AtomicReference<>("")).replica::startQuorum);
    assertThat(next.replica.startQuorum()).isEqualTo(5);
    assertThat(restored.get()).isEqualTo("after five steps");
    assertThat(Threads.result(other)).isEqualTo(5);
  }

  private Task written(int number, AtomicReference<String> text) {
    Task task = new Task(number, 5);
    task.replica.state(
        "text",
        () -> text.get().getBytes(StandardCharsets.UTF_8),
        bytes -> text.set(new String(bytes, StandardCharsets.UTF_8)));
    return task;
  }

  @Test
  void aLostReplicasPartitionIsTakenOverAndGivenBack() throws Exception {
    Task survivor = new Task(0);
    Task lost = new Task(1);
    assertThatThrownBy(survivor.replica::partitions).hasMessageContaining("from startQuorum() on");
    Future<Task> stepped = trains(lost, 1);
    survivor.step();
    Threads.result(stepped);
    List<Integer> all = new ArrayList<>(survivor.replica.partitions());
    all.addAll(lost.replica.partitions());
    assertThat(all).containsExactlyInAnyOrder(0, 1, 2);
    assertThatThrownBy(() -> survivor.replica.sumOverPartitions(List.of(new double[1])))
        .hasMessageContaining("startQuorum() must begin a step before sumOverPartitions()");
    lost.dies();
    Task replacement = new Task(1);
    Task third = new Task(2);
    List<Future<double[]>> sums =
        Stream.of(survivor, replacement, third)
            .map(task -> threads.start(task::sumsUntilAllAreThere))
            .toList();
    for (Future<double[]> each : sums) {
      Threads.result(each);
    }
    assertThat(survivor.replica.partitions()).containsExactly(0);
    assertThat(replacement.replica.partitions()).containsExactly(1);
  }

  @Test
  void whenAllAreLostTheNextGoOnFromTheCheckpoint() throws Exception {
    List<Task> lost = List.of(new Task(0, 10), new Task(1, 10));
    List<Future<Task>> trained = List.of(trains(lost.get(0), 25), trains(lost.get(1), 25));
    for (Future<Task> each : trained) {
      Threads.result(each);
    }
    lost.forEach(Task::dies);

    List<Task> next = List.of(new Task(0, 10), new Task(1, 10));
    Future<Long> begun = threads.start(next.get(0).replica::startQuorum);
    assertThat(next.get(1).replica.startQuorum()).isEqualTo(20);
    assertThat(Threads.result(begun)).isEqualTo(20);
    assertThat(next.get(0).history).startsWith(Arrays.copyOf(lost.get(0).history, 20));
    assertThat(next.get(1).history).isEqualTo(next.get(0).history);
    assertThat(next.get(1).weights).isEqualTo(next.get(1).replay());
  }

  @Test
  void onlyTheLastTwoCheckpointsAreKeptAndNothingOfAnInterruptedOne() throws Exception {
    Task first = new Task(0, 5);
    Task second = new Task(1, 5);
    StateVersion interrupted = new StateVersion(1, 3);
    first.task.store().set(RunKeys.checkpoint(interrupted) + 0, new byte[] {1});
    for (Future<Task> each : List.of(trains(first, 16), trains(second, 16))) {
      Threads.result(each);
    }
    assertThat(
            first.task.store().listKeys().stream()
                .filter(key -> key.startsWith(RunKeys.CHECKPOINTS))
                .map(key -> key.substring(0, key.lastIndexOf('/') + 1))
                .distinct())
        .containsExactlyInAnyOrder(
            RunKeys.checkpoint(new StateVersion(1, 10)),
            RunKeys.checkpoint(new StateVersion(1, 15)));
  }

  /** Has a log beside the tensors, to which each committed step adds a byte. */
  private final class Logging {

    private final Task task;
    private byte[] log = {};

    Logging(int number) {
      task = new Task(number, 4);
      task.replica.state("log", () -> log, bytes -> log = bytes);
    }

    boolean hasTakenStepsWithAll() {
      return Arrays.stream(task.history).filter(each -> each == 0b111).count() == 3;
    }

    Future<Logging> until(Predicate<Logging> isDone) {
      return threads.start(
          () -> {
            while (!isDone.test(this)) {
              task.step();
              log = Arrays.copyOf(log, log.length + 1);
              log[log.length - 1] = (byte) task.replica.currentStep();
            }
            return this;
          });
    }

    void assertLogged() {
      byte[] steps = new byte[(int) task.replica.currentStep()];
      for (int i = 0; i < steps.length; i++) {
        steps[i] = (byte) (i + 1);
      }
      assertThat(log).isEqualTo(steps);
    }
  }

  @Test
  void aStateThatGrowsGoesToWhoJoinsAndIntoCheckpoints() throws Exception {
    List<Logging> all = new ArrayList<>(List.of(new Logging(0), new Logging(1)));
    trainUntil(all, each -> each.task.replica.currentStep() == 5);
    all.add(new Logging(2));
    trainUntil(all, Logging::hasTakenStepsWithAll);
    all.forEach(each -> each.task.dies());

    long last = all.get(2).task.replica.currentStep();
    List<Logging> next = List.of(new Logging(0), new Logging(1));
    trainUntil(next, each -> each.task.replica.currentStep() == last + 2);
  }

  private void trainUntil(List<Logging> replicas, Predicate<Logging> isDone) throws Exception {
    List<Future<Logging>> trained = replicas.stream().map(each -> each.until(isDone)).toList();
    for (Future<Logging> each : trained) {
      Threads.result(each).assertLogged();
    }
  }

  @Test
  void anErrorOfOneReplicaMakesAllRepeatTheStep() throws Exception {
    QuorumReplica first = new Task(0).replica;
    QuorumReplica second = new Task(1).replica;
    Future<Boolean> repeated =
        threads.start(
            () -> {
              second.startQuorum();
              return second.shouldCommit();
            });
    first.startQuorum();
    assertThat(first.shouldCommit("the gradient is spoilt")).isFalse();
    assertThat(Threads.result(repeated)).isFalse();
    Future<Boolean> committed =
        threads.start(
            () -> {
              second.startQuorum();
              return second.shouldCommit();
            });
    assertThat(first.startQuorum()).isZero();
    assertThat(first.shouldCommit()).isTrue();
    assertThat(Threads.result(committed)).isTrue();
    assertThat(first.quorumId()).isEqualTo(1);
  }

  @Test
  void whenAllAreLostWithoutACheckpointTheRunFails() throws Exception {
    List<Task> lost = List.of(new Task(0), new Task(1));
    List<Future<Task>> trained = List.of(trains(lost.get(0), 5), trains(lost.get(1), 5));
    for (Future<Task> each : trained) {
      Threads.result(each);
    }
    lost.forEach(Task::dies);
    Task next = new Task(0);
    assertThatThrownBy(next.replica::startQuorum)
        .isInstanceOf(StoreException.class)
        .hasMessageContaining("had its state were lost");
    assertThat(replicas.runs().failure(replicas.run())).isCompleted();
  }

  @Test
  void aReplicaOfAnotherModelIsRefused() throws Exception {
    Task task = new Task(0);
    Task other = new Task(1);
    other.replica.state("more", Tensor.of(new float[7]));
    Future<Task> one = trains(task, 5);
    assertThatThrownBy(other.replica::startQuorum)
        .isInstanceOf(IllegalStateException.class)
        .hasMessageContaining("Replicas 0 and 1 have states that differ")
        .hasMessageContaining("more FLOAT32[7]");
    other.dies();
    Threads.result(trains(new Task(1), 5));
    Threads.result(one);
  }

  @Test
  void aReplicaThatComesWhenOthersHaveFinishedHasNoSteps() throws Exception {
    Task first = new Task(0);
    Future<Task> one = trains(first, 5);
    Threads.result(trains(new Task(1), 5));
    Threads.result(one);
    replicas.runs().returned(first.task.incarnation());
    assertThatThrownBy(new Task(2).replica::startQuorum).isInstanceOf(RunOverException.class);
  }

  @Test
  void callsInTheWrongOrderAreRefused() throws Exception {
    Task task = new Task(0);
    Future<Task> other = trains(new Task(1), 1);
    assertThatThrownBy(() -> task.replica.allReduce(Tensor.of(1), ReduceOp.SUM))
        .isInstanceOf(IllegalStateException.class)
        .hasMessageContaining("startQuorum() must begin a step before allReduce()");
    assertThatThrownBy(task.replica::shouldCommit).hasMessageContaining("startQuorum()");
    assertThatThrownBy(() -> task.replica.state("weights", Tensor.of(1)))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("registered twice");
    task.replica.startQuorum();
    assertThatThrownBy(task.replica::startQuorum).hasMessageContaining("shouldCommit() ends it");
    assertThatThrownBy(() -> task.replica.state("late", Tensor.of(1)))
        .hasMessageContaining("before the first startQuorum()");
    double[] gradient = new double[3];
    task.replica.allReduce(Tensor.of(gradient), ReduceOp.SUM);
    task.replica.allReduce(Tensor.of(new long[1]), ReduceOp.SUM);
    assertThat(task.replica.shouldCommit()).isTrue();
    Threads.result(other);
  }
}
