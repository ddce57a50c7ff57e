package org.sparkcollectives;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.sparkcollectives.spi.HostedGroups;
import org.sparkcollectives.store.StoreTable;
import org.sparkcollectives.testing.LeakCheck;
import org.sparkcollectives.testing.RankThreads;

/**
 * Specifies that a rank finds out once that its store does not answer, however many groups it
 * closes. The calls of the closes are counted, because a busy machine makes each wait longer.
 */
@ExtendWith(LeakCheck.class)
class ClosingWithoutStoreTest {

  /**
   * The limit for a close of any number of groups: 64 of them would take minutes if each waited for
   * the store by itself.
   */
  private static final Duration LIMIT = Duration.ofSeconds(50);

  /** How long a store counts as silent before it is asked again. */
  private static final Duration BELIEVED = Duration.ofSeconds(10);

  /** How the groups are made from each other. */
  enum Tree {
    /** All of them from the world. */
    WIDE,
    /** Each from the one before. */
    DEEP
  }

  @ParameterizedTest(name = "{0} {1}, failed: {2}, one by one: {3}")
  @CsvSource({
    "1, WIDE, false, false",
    "8, WIDE, false, true",
    "64, WIDE, false, false",
    "1, WIDE, true, false",
    "8, WIDE, true, true",
    "64, WIDE, true, false",
    "8, DEEP, false, false",
    "8, DEEP, true, false"
  })
  void anyNumberOfGroupsIsClosedWithinTheTimeOfOne(
      int count, Tree tree, boolean failed, boolean oneByOne) {
    CountDownLatch cut = new CountDownLatch(2);
    try (StoreTable table = new StoreTable()) {
      RankThreads.run(
          2,
          rank -> {
            try (CuttableStore store = new CuttableStore(table)) {
              List<ProcessGroup> groups = groups(store, rank, count, tree);
              // Both ranks have their groups before the first store is cut.
              groups.get(0).barrier().await();
              cut.countDown();
              cut.await();
              store.cut();
              if (failed) {
                groups.get(0).abort(new IllegalStateException("the network is gone"));
              }
              assertClosedSoon(store, groups, oneByOne);
            }
            return null;
          });
    }
  }

  /** Returns the world, and the groups made from it. */
  private static List<ProcessGroup> groups(CuttableStore store, int rank, int count, Tree tree) {
    List<ProcessGroup> groups = new ArrayList<>();
    groups.add(
        HostedGroups.create(store, rank, 2, GroupOptions.defaults(), HostedRank.inNode(rank)));
    for (int i = 0; i < count; i++) {
      groups.add(groups.get(tree == Tree.WIDE ? 0 : i).newGroup());
    }
    return groups;
  }

  private static void assertClosedSoon(
      CuttableStore store, List<ProcessGroup> groups, boolean oneByOne) {
    long start = System.nanoTime();
    if (oneByOne) {
      List<ProcessGroup> last = new ArrayList<>(groups);
      Collections.reverse(last);
      last.forEach(ProcessGroup::close);
    } else {
      groups.get(0).close();
    }
    Duration taken = Duration.ofNanos(System.nanoTime() - start);
    assertThat(taken).isLessThan(LIMIT);
    assertThat(failures(store, "append") + failures(store, "add"))
        .as("calls of the closes that got no answer")
        .isBetween(1L, 1 + 2 * taken.dividedBy(BELIEVED));
  }

  private static long failures(CuttableStore store, String method) {
    return store.statistics().of(method).failures();
  }
}
