package org.sparkcollectives;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.sparkcollectives.spi.HostedGroups;
import org.sparkcollectives.store.HashStore;
import org.sparkcollectives.testing.LeakCheck;
import org.sparkcollectives.testing.RankThreads;

/** Specifies that groups which are closed together share the time that their close may take. */
@ExtendWith(LeakCheck.class)
class ClosingTimeTest {

  private static final int GROUPS = 32;
  private static final Duration TIMEOUT = Duration.ofSeconds(3);

  /** More than the time of one group, less than that of all. */
  private static final Duration LIMIT = Duration.ofSeconds(50);

  /** The time of each operation, so that none ends by itself. */
  private static final Duration LONG = Duration.ofMinutes(30);

  @Test
  void pendingOperationsOfManyGroupsGetTheTimeOfOne() {
    CountDownLatch closed = new CountDownLatch(1);
    try (HashStore store = new HashStore()) {
      RankThreads.run(
          2,
          rank -> {
            try (ProcessGroup world =
                HostedGroups.create(
                    store, rank, 2, GroupOptions.defaults(), HostedRank.inNode(rank))) {
              ProcessGroup parent = world.newGroup(GroupOptions.defaults().withTimeout(TIMEOUT));
              List<Work> pending = new ArrayList<>();
              for (int i = 0; i < GROUPS; i++) {
                ProcessGroup group = parent.withTimeout(LONG).newGroup();
                if (rank == 0) {
                  pending.add(group.recv(Tensor.of(1.0), 1));
                }
              }
              if (rank == 1) {
                closed.await();
                return null;
              }
              long start = System.nanoTime();
              parent.close();
              assertThat(Duration.ofNanos(System.nanoTime() - start)).isBetween(TIMEOUT, LIMIT);
              closed.countDown();
              for (Work each : pending) {
                assertThatThrownBy(each::await).isInstanceOf(CollectiveException.class);
              }
            }
            return null;
          });
    }
  }
}
