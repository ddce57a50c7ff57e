package org.sparkcollectives;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.sparkcollectives.store.Store;

/** Ranks of a reconfigurable group on which a contract is tested, over some path and store. */
interface ReconfigurableRanks {

  /** Longer than a change takes on a slow machine. */
  Duration PATIENCE = Duration.ofMinutes(3);

  /** The code of one rank. */
  interface Body<T> {

    /** Runs as this rank; an exception fails the test. */
    T run(Member me) throws Exception;
  }

  /** Runs {@code body} as each of {@code size} ranks, and returns the results in rank order. */
  <T> List<T> members(int size, Body<T> body);

  /**
   * A rank, and what the ranks of a test share.
   *
   * @param rank that the group was made with
   */
  record Member(ReconfigurableGroup group, int rank, int all, Store store) {

    /** Returns the handles of all ranks, by the rank that they were made with. */
    List<String> collect(String occasion) {
      Store keys = store.withPrefix("test/handles/" + occasion);
      keys.set(String.valueOf(rank), group.handle().getBytes(StandardCharsets.UTF_8));
      List<String> handles = new ArrayList<>();
      for (int each = 0; each < all; each++) {
        handles.add(new String(keys.get(String.valueOf(each)), StandardCharsets.UTF_8));
      }
      return handles;
    }

    /** Waits until all ranks are here, members or not. */
    void meet(String place) {
      collect("meet-" + place);
    }

    /** Makes a group of the members with these handles. */
    void reconfigure(long uuid, List<String> handles) {
      group.reconfigure(uuid, handles, PATIENCE);
    }

    /** Makes a group of this rank alone. */
    void alone(long uuid) {
      reconfigure(uuid, List.of(group.handle()));
      is(0, 1);
    }

    /** Makes a group of all ranks. */
    void together(long uuid) {
      reconfigure(uuid, collect("for-" + uuid));
      is(rank, all);
    }

    /** Asserts the rank and the size. */
    void is(int newRank, int size) {
      assertThat(group.rank()).as("rank").isEqualTo(newRank);
      assertThat(group.size()).as("size").isEqualTo(size);
      assertThat(group.globalRank(newRank)).isEqualTo(newRank);
    }

    /** Asserts the sum of each member's rank and 1. */
    void sums() {
      float[] sum = new float[4];
      Arrays.fill(sum, group.rank() + 1);
      group.allReduce(Tensor.of(sum), ReduceOp.SUM).await();
      float[] expected = new float[4];
      Arrays.fill(expected, group.size() * (group.size() + 1) / 2f);
      assertThat(sum).isEqualTo(expected);
    }
  }
}
