package org.sparkcollectives.spark.internal.driver;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.sparkcollectives.GroupOptions;
import org.sparkcollectives.ProcessGroup;
import org.sparkcollectives.ProcessGroups;
import org.sparkcollectives.ReconfigurableGroup;
import org.sparkcollectives.ReduceOp;
import org.sparkcollectives.Tensor;
import org.sparkcollectives.spark.elastic.LostRows;
import org.sparkcollectives.spark.elastic.Replica;
import org.sparkcollectives.spark.internal.elastic.QuorumReplica;
import org.sparkcollectives.spark.internal.elastic.ReplicaVote;
import org.sparkcollectives.spark.internal.executor.DriverStoreClient;
import org.sparkcollectives.spark.internal.protocol.RunKeys;
import org.sparkcollectives.spark.internal.protocol.RunRequest;
import org.sparkcollectives.spark.internal.protocol.StageAttempt;
import org.sparkcollectives.spark.internal.protocol.StateVersion;
import org.sparkcollectives.spi.HostedGroups;
import org.sparkcollectives.store.HashStore;
import org.sparkcollectives.testing.Threads;

/** Trains two replicas of two ranks, which are threads, over the driver's store without Spark. */
@Timeout(300)
class ReplicasOfRanksTest {

  private static final int SIZE = 2;

  private final TestDriver driver = new TestDriver("1g");
  private final String run = driver.store().runs().begin(2, SIZE);
  private final AtomicLong incarnations = new AtomicLong();
  private final AtomicInteger stages = new AtomicInteger();
  private final List<ProcessGroup> groups = new ArrayList<>();
  private final Threads threads = new Threads();

  @AfterEach
  void close() {
    driver.store().runs().close(run, "");
    // A rank that has failed has left others behind.
    groups.forEach(each -> each.abort(new IllegalStateException("the test is over")));
    groups.forEach(ProcessGroup::close);
    threads.close();
    driver.close();
  }

  /** A rank of a replica, and what it trains. */
  private final class Rank {

    private final RunRequest self;
    private final DriverStoreClient store;
    private final ReconfigurableGroup group;
    private final Replica replica;
    private final double[] shard = new double[2];
    private int lostAttempts;

    Rank(int number, ProcessGroup ranks, StageAttempt stage, int checkpointInterval) {
      self =
          new RunRequest(
              run, number, ranks.rank(), stage, incarnations.incrementAndGet(), "host", "1");
      store = driver.connect(self);
      String name = RunKeys.replicas(RunKeys.replicas("app", run), ranks.rank(), SIZE);
      group =
          HostedGroups.reconfigurable(
              store,
              number,
              2,
              GroupOptions.defaults().withName(name),
              new TestHost(store, self.incarnation()),
              store::close);
      groups.add(group);
      ReplicaVote vote = ReplicaVote.of(ranks);
      replica =
          new QuorumReplica(
              self, group, store, vote, LostRows.DROP, 2, checkpointInterval, () -> false);
      replica.state("shard", Tensor.of(shard));
    }

    Rank until(long steps) {
      while (replica.currentStep() < steps) {
        replica.startQuorum();
        double[] sum = {self.replica() + replica.currentStep(), 1};
        replica.allReduce(Tensor.of(sum), ReduceOp.SUM);
        replica.group().allReduce(Tensor.of(new int[1]), ReduceOp.SUM).await();
        if (replica.shouldCommit()) {
          shard[0] += sum[0] * (1 + replica.group().rank());
          shard[1] += sum[1];
        } else {
          lostAttempts++;
        }
      }
      return this;
    }

    void dies() {
      driver.lose(self);
      group.abort(new IllegalStateException("dead"));
    }
  }

  /** Begins a replica: its ranks meet, and become clients of the run. */
  private List<Rank> replica(int number, int checkpointInterval) throws Exception {
    HashStore own = new HashStore();
    StageAttempt stage = new StageAttempt(stages.incrementAndGet(), 0);
    List<Future<ProcessGroup>> meetings = new ArrayList<>();
    for (int i = 0; i < SIZE; i++) {
      int rank = i;
      meetings.add(
          threads.start(() -> ProcessGroups.create(own, rank, SIZE, GroupOptions.defaults())));
    }
    List<Rank> ranks = new ArrayList<>();
    for (Future<ProcessGroup> each : meetings) {
      ProcessGroup group = Threads.result(each);
      groups.add(group);
      ranks.add(new Rank(number, group, stage, checkpointInterval));
    }
    return ranks;
  }

  private Future<Rank> trains(Rank rank, long steps) {
    Callable<Rank> training = () -> rank.until(steps);
    return threads.start(training);
  }

  private void train(long steps, List<Rank> ranks) throws Exception {
    List<Future<Rank>> all = ranks.stream().map(each -> trains(each, steps)).toList();
    for (Future<Rank> each : all) {
      assertThat(Threads.result(each).replica.currentStep()).isEqualTo(steps);
    }
  }

  private static List<Rank> all(List<Rank> first, List<Rank> second) {
    List<Rank> all = new ArrayList<>(first);
    all.addAll(second);
    return all;
  }

  /** Asserts that both replicas have the same shards, which took all steps together. */
  private static void assertShards(List<Rank> all, int steps) {
    double sum = 0;
    for (int step = 0; step < steps; step++) {
      sum += 1 + 2 * step;
    }
    assertThat(all.get(0).shard).containsExactly(sum, 2 * steps);
    assertThat(all.get(1).shard).containsExactly(2 * sum, 2 * steps);
    assertThat(all.get(2).shard).isEqualTo(all.get(0).shard);
    assertThat(all.get(3).shard).isEqualTo(all.get(1).shard);
  }

  @Test
  void eachRankReducesWithItsOwnRankOfTheOtherReplica() throws Exception {
    List<Rank> all = all(replica(0, 0), replica(1, 0));
    train(10, all);
    assertShards(all, 10);
    assertThat(all.get(3).replica.participatingRank()).isEqualTo(1);
    assertThat(all.get(3).replica.numParticipants()).isEqualTo(2);
  }

  @Test
  void aStepThatOneRankHasLostIsRepeatedByAll() throws Exception {
    List<Rank> all = all(replica(0, 0), replica(1, 0));
    train(5, all);
    all.get(3).group.abort(new IllegalStateException("the group of rank 1 alone"));
    train(10, all);
    assertShards(all, 10);
    assertThat(all).extracting(each -> each.lostAttempts).containsExactly(1, 1, 1, 1);
    assertThat(all.get(0).replica.quorumId()).isEqualTo(2);
  }

  @Test
  void aReplacementReceivesEachRanksStateFromTheSameRank() throws Exception {
    List<Rank> survivor = replica(0, 0);
    List<Rank> lost = replica(1, 0);
    train(5, all(survivor, lost));
    // The other rank still runs, and is refused once the next incarnation has begun.
    lost.get(1).dies();
    List<Rank> all = all(survivor, replica(1, 0));
    train(10, all);
    assertShards(all, 10);
  }

  @Test
  void whenAllAreLostEachRankRestoresItsPartOfTheCheckpoint() throws Exception {
    List<Rank> lost = all(replica(0, 5), replica(1, 5));
    train(7, lost);
    StateVersion version = new StateVersion(1, 5);
    assertThat(lost.get(0).store.listKeys())
        .contains(
            RunKeys.complete(version),
            RunKeys.checkpoint(version, 0) + 0,
            RunKeys.checkpoint(version, 1) + 0);
    lost.forEach(Rank::dies);
    List<Rank> next = all(replica(0, 5), replica(1, 5));
    train(9, next);
    assertShards(next, 9);
    assertThat(Arrays.asList(next.get(0).replica.quorumId())).containsExactly(2L);
  }
}
