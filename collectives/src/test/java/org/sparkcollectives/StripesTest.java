package org.sparkcollectives;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;

import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.function.Consumer;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.sparkcollectives.net.TransportSecurity;
import org.sparkcollectives.spi.RankContext;
import org.sparkcollectives.testing.GroupRuns;
import org.sparkcollectives.testing.LeakCheck;
import org.sparkcollectives.testing.Paths;
import org.sparkcollectives.testing.SeveralNodes;

/**
 * Tests collectives in several stripes: which ones are cut, and what happens to all stripes when
 * one fails.
 */
@ExtendWith(LeakCheck.class)
class StripesTest {

  private static final int FIRST_STRIPE = 0;
  private static final int SECOND_STRIPE = 3;
  private static final int THIRD_STRIPE = 4;
  private static final GroupOptions OVER_TCP = GroupOptions.defaults().withTransports("tcp");

  /** The float32 elements of three stripes of 2 MiB, of which a rank sends a half at a time. */
  private static final int COUNT = (6 << 20) / Float.BYTES;

  private static final String MIN_BYTES = "tuning.stripeBytes=";

  private static RankContext context(ConnectionRelay relay, int rank, String... settings) {
    List<String> all = new ArrayList<>(List.of(settings));
    if (rank == 0) {
      all.addAll(relay.settings());
    }
    return new HostedRank(all, TransportSecurity.plain());
  }

  private static String connections(int count) {
    return "spark.collectives.tcp.connections=" + count;
  }

  @Test
  void onlyWhatIsLargeEnoughGoesOverFurtherConnections() throws IOException {
    try (ConnectionRelay relay = new ConnectionRelay(-1, 0)) {
      GroupRuns.run(
          2,
          OVER_TCP,
          rank -> context(relay, rank, connections(3), MIN_BYTES + "4k"),
          group -> {
            sumOf(group, 2047);
            assertThat(relay.connections(SECOND_STRIPE)).isZero();
            group.barrier().await();
            sumOf(group, 2048);
            group.barrier().await();
            assertThat(relay.connections(SECOND_STRIPE)).isOne();
            assertThat(relay.connections(THIRD_STRIPE)).isZero();
            group.barrier().await();
            sumOf(group, 100_003);
            sumOf(group, 100_003);
            group.barrier().await();
            assertThat(relay.connections(FIRST_STRIPE)).isOne();
            assertThat(relay.connections(SECOND_STRIPE)).isOne();
            assertThat(relay.connections(THIRD_STRIPE)).isOne();
            return null;
          });
    }
  }

  @Test
  void aGroupMadeFromAGroupHasStripesOfItsOwn() throws IOException {
    try (ConnectionRelay relay = new ConnectionRelay(-1, 0)) {
      GroupRuns.run(
          3,
          OVER_TCP,
          rank -> context(relay, rank, connections(2), MIN_BYTES + "1k"),
          group -> {
            ProcessGroup pair = group.newGroup(0, 1);
            if (pair != null) {
              sumOf(pair, 10_000);
              pair.barrier().await();
              assertThat(relay.connections(SECOND_STRIPE)).isOne();
            }
            return null;
          });
    }
  }

  /** Runs one rank of each node with a slice, and no shared memory with the other. */
  @Test
  void aColumnOfAHierarchyCutsWhatItExchanges() throws IOException {
    try (ConnectionRelay relay = new ConnectionRelay(-1, 0)) {
      GroupRuns.run(
          3,
          GroupOptions.defaults().withTransports("heap", "tcp"),
          rank ->
              context(relay, rank, connections(2), MIN_BYTES + "1k", SeveralNodes.NOTHING_INSIDE),
          group -> {
            sumOf(group, 10_000);
            group.barrier().await();
            assertThat(relay.connections(FIRST_STRIPE)).isOne();
            assertThat(relay.connections(SECOND_STRIPE)).isOne();
            return null;
          });
    }
  }

  @Test
  void whatGoesThroughSharedMemoryIsNotCut() throws IOException {
    try (ConnectionRelay relay = new ConnectionRelay(-1, 0)) {
      GroupRuns.run(
          2,
          GroupOptions.defaults().withTransports("shm", "tcp"),
          rank -> context(relay, rank, connections(2), MIN_BYTES + "1k"),
          group -> {
            sumOf(group, 10_000);
            float[] copied = new float[10_000];
            group.broadcast(Tensor.of(copied), 0).await();
            group.barrier().await();
            assertThat(relay.connections(SECOND_STRIPE)).isZero();
            return null;
          });
    }
  }

  private static void sumOf(ProcessGroup group, int count) {
    float[] values = new float[count];
    Arrays.fill(values, group.rank() + 1);
    group.allReduce(Tensor.of(values), ReduceOp.SUM).await();
    int n = group.size();
    assertThat(values).containsOnly(n * (n + 1) / 2f);
  }

  /** Tries counts on both sides of those from which ranks cut in two, and in more. */
  @Test
  void anyCountAndTypeIsCutAtTheThreshold() {
    GroupRuns.run(
        3,
        OVER_TCP,
        new HostedRank(List.of(connections(4), MIN_BYTES + 1000), TransportSecurity.plain()),
        group -> {
          for (int bytes : new int[] {1999, 2000, 2016, 2999, 3000, 3001, 3999, 4000, 4111}) {
            for (DType dtype : List.of(DType.FLOAT32, DType.FLOAT64)) {
              int count = bytes / dtype.bytes();
              Tensor tensor = Samples.contribution(dtype, group.rank(), count);
              group.allReduce(tensor, ReduceOp.SUM).await();
              Samples.assertClose(
                  new Samples.Reduction(tensor.dtype(), ReduceOp.SUM),
                  tensor,
                  Samples.model(ReduceOp.SUM, 3, count));
            }
            byte[] copied = new byte[bytes];
            if (group.rank() == 1) {
              Arrays.fill(copied, (byte) 5);
            }
            group.broadcast(Tensor.wrap(DType.UINT8, copied), 1).await();
            assertThat(copied).containsOnly(5);
          }
          return null;
        });
  }

  @RepeatedTest(50)
  void differentCountsAreTheCauseOnAllRanksWhereverTheyAreFound() {
    GroupRuns.run(
        3,
        Paths.STRIPED,
        group -> {
          int count = group.rank() == 1 ? 70_001 : 70_002;
          Tensor tensor = Tensor.of(new float[count]);
          // The others may have failed before this rank even calls.
          assertThatThrownBy(() -> group.allReduce(tensor, ReduceOp.SUM).await())
              .isInstanceOf(CollectiveException.class)
              .hasMessageContaining("70001")
              .hasMessageContaining("70002");
          return null;
        });
  }

  @RepeatedTest(20)
  void aSmallOperationMeetsALargeOne() {
    GroupRuns.run(
        2,
        Paths.STRIPED,
        group -> {
          int count = group.rank() == 1 ? 3 : 70_002;
          Tensor tensor = Tensor.of(new float[count]);
          // The others may have failed before this rank even calls.
          assertThatThrownBy(() -> group.allReduce(tensor, ReduceOp.SUM).await())
              .isInstanceOf(CollectiveException.class)
              .hasMessageContaining("70002");
          return null;
        });
  }

  /** An event on rank 0 while the second stripe is in the middle of its part. */
  private interface Event {
    void happen(ProcessGroup group, ConnectionRelay relay, Thread caller) throws Exception;
  }

  /**
   * Holds the second stripe up in the middle of a sum, causes an event, and checks the results of
   * both ranks. Then writes to the tensors, lets the stripe go on, and checks that nothing else has
   * written.
   */
  private static void inTheMidst(
      Duration timeout, Event event, Consumer<Throwable> ofZero, Consumer<Throwable> ofOne)
      throws IOException {
    try (ConnectionRelay relay = new ConnectionRelay(SECOND_STRIPE, 256 << 10)) {
      GroupRuns.run(
          2,
          OVER_TCP,
          rank -> context(relay, rank, connections(3), MIN_BYTES + "1m"),
          group -> {
            sumOf(group, 1000);
            float[] values = new float[COUNT];
            Thread caller = Thread.currentThread();
            Thread other = null;
            if (group.rank() == 0) {
              other =
                  new Thread(
                      () -> {
                        try {
                          relay.awaitHeld();
                          event.happen(group, relay, caller);
                        } catch (Exception e) {
                          throw new IllegalStateException(e);
                        }
                      },
                      "event");
              other.start();
            }
            Throwable thrown =
                catchThrowable(
                    () ->
                        group
                            .withTimeout(timeout)
                            .allReduce(Tensor.of(values), ReduceOp.SUM)
                            .await());
            if (other != null) {
              Thread.interrupted();
              other.join();
            }
            Arrays.fill(values, 7);
            (group.rank() == 0 ? ofZero : ofOne).accept(thrown);
            group.close();
            relay.release();
            assertThat(values).containsOnly(7);
            return null;
          });
    }
  }

  private static final Duration LONG = Duration.ofMinutes(5);

  private static Consumer<Throwable> hasMessage(Class<? extends Throwable> type, String... words) {
    return thrown -> assertThat(thrown).isInstanceOf(type).hasMessageContainingAll(words);
  }

  @RepeatedTest(5)
  void theEndOfOneConnectionEndsAllStripes() throws IOException {
    inTheMidst(
        LONG,
        (group, relay, caller) -> relay.resetHeld(),
        hasMessage(CollectiveException.class, "all-reduce #1", "lost its path"),
        hasMessage(CollectiveException.class, "all-reduce #1", "lost its path"));
  }

  @RepeatedTest(5)
  void anAbortEndsAllStripes() throws IOException {
    inTheMidst(
        LONG,
        (group, relay, caller) -> group.abort(new IllegalStateException("enough")),
        hasMessage(GroupAbortedException.class, "enough"),
        hasMessage(PeerFailedException.class, "rank 0", "enough"));
  }

  @RepeatedTest(5)
  void anInterruptEndsAllStripes() throws IOException {
    inTheMidst(
        LONG,
        (group, relay, caller) -> caller.interrupt(),
        hasMessage(GroupAbortedException.class, "interrupted"),
        hasMessage(PeerFailedException.class, "rank 0", "interrupted"));
  }

  @Test
  void theDeadlineEndsAllStripes() throws IOException {
    inTheMidst(
        Duration.ofSeconds(1),
        (group, relay, caller) -> {},
        hasMessage(CollectiveException.class, "timed out after 1.0 s"),
        hasMessage(CollectiveException.class, "timed out after 1.0 s"));
  }
}
