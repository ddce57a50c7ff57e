package org.sparkcollectives;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.sparkcollectives.store.HashStore;
import org.sparkcollectives.store.WatchableStore;
import org.sparkcollectives.testing.RankThreads;

/** The rendezvous where a rank hangs after it has said where it is. */
class StoppedRendezvousTest {

  private static final int SIZE = 3;
  private static final int STOPPED = 2;

  @ParameterizedTest
  @ValueSource(strings = {"rendezvous/joined", "rendezvous/complete"})
  void theOthersHaveTheirGroupWithoutWhatTheStoppedRankWasToWrite(String key) {
    CountDownLatch othersAreThere = new CountDownLatch(SIZE - 1);
    CountDownLatch othersHaveJoined = new CountDownLatch(SIZE - 1);
    try (HashStore whole = new HashStore()) {
      WatchableStore store = (WatchableStore) whole.withTimeout(Duration.ofSeconds(20));
      RankThreads.run(
          SIZE,
          rank -> {
            WatchableStore own =
                rank == STOPPED
                    ? FaultyStore.over(
                        store, stopsAt(key, othersHaveJoined, othersAreThere), FaultyStore.NONE)
                    : FaultyStore.over(store, FaultyStore.NONE, counts(othersHaveJoined));
            try (ProcessGroup world =
                ProcessGroups.create(own, rank, SIZE, GroupOptions.defaults())) {
              othersAreThere.countDown();
              float[] sum = {rank};
              world.allReduce(Tensor.of(sum), ReduceOp.SUM).await();
              assertThat(sum).containsExactly(3);
            }
            return null;
          });
    }
  }

  private static FaultyStore.Fault counts(CountDownLatch joined) {
    return (method, argument) -> {
      if (method.equals("add") && argument.endsWith("rendezvous/joined")) {
        joined.countDown();
      }
    };
  }

  /** Comes last to the rendezvous, and hangs until the others have their group. */
  private static FaultyStore.Fault stopsAt(
      String key, CountDownLatch othersHaveJoined, CountDownLatch othersAreThere) {
    return (method, argument) -> {
      if (method.equals("add") && argument.endsWith("rendezvous/joined")) {
        await(othersHaveJoined);
      }
      if (!method.equals("watch") && argument.endsWith(key)) {
        await(othersAreThere);
      }
    };
  }

  private static void await(CountDownLatch latch) {
    try {
      latch.await();
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }
}
