package org.sparkcollectives;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.sparkcollectives.store.HashStore;
import org.sparkcollectives.store.Store;

/** Specifies groups that are merged over a store. */
interface MergedGroupsContract extends RanksUnderTest {

  private static GroupOptions named(String name) {
    return GroupOptions.defaults().withName(name);
  }

  @Test
  default void groupsThatKnowNothingOfEachOtherBecomeOne() {
    try (HashStore meeting = new HashStore()) {
      ranks(
          5,
          world -> {
            ProcessGroup own = world.newSubgroups(List.of(new int[] {3, 0}, new int[] {1, 2, 4}));
            ProcessGroup merged =
                own.mergeRemoteGroup(meeting, 5, named("all").withDescription("of two"));

            int[] origins = new int[5];
            merged.allGather(Tensor.of(origins), Tensor.of(world.rank())).await();
            List<Integer> inOrder = IntStream.of(origins).boxed().toList();
            assertThat(inOrder).isIn(List.of(3, 0, 1, 2, 4), List.of(1, 2, 4, 3, 0));
            assertThat(inOrder.get(merged.rank())).isEqualTo(world.rank());
            assertThat(merged.name()).isEqualTo("all");
            assertThat(merged.description()).isEqualTo("of two");
            assertThat(merged.size()).isEqualTo(5);
            assertThat(merged.globalRanks()).containsExactly(0, 1, 2, 3, 4);
            assertThat(merged.timeout()).isEqualTo(own.timeout());
            assertThat(own.groups()).containsExactly(merged);
            float[] sum = {1};
            own.allReduce(Tensor.of(sum)).await();
            assertThat(sum[0]).as("the merged one leaves the others alone").isEqualTo(own.size());
            merged.barrier().await();
            own.close();
            assertThatThrownBy(merged::barrier).isInstanceOf(IllegalStateException.class);
            return null;
          });
      assertThat(meeting.listKeys()).isEmpty();
    }
  }

  @Test
  default void whatDoesNotFitIsRefusedOnAllRanksOfTheGroup() {
    try (HashStore meeting = new HashStore()) {
      Store hasty = meeting.withTimeout(Duration.ofMillis(50));
      ranks(
          2,
          world -> {
            int size = 3 + world.rank();
            assertThatThrownBy(() -> world.mergeRemoteGroup(meeting, size, named("a")))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("merge-remote-group of group")
                .hasMessageContaining("a group \"a\" of 3 ranks")
                .hasMessageContaining("a group \"a\" of 4 ranks");
            String name = world.rank() == 0 ? "a" : "";
            assertThatThrownBy(() -> world.mergeRemoteGroup(meeting, 3, named(name)))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("on rank " + world.rank() + " of 2: ")
                .hasMessageContaining("the merged group needs a name");
            GroupOptions options = world.rank() == 0 ? named("a") : null;
            assertThatThrownBy(() -> world.mergeRemoteGroup(meeting, 3, options))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("NullPointerException");
            assertThatThrownBy(() -> world.mergeRemoteGroup(meeting, 1, named("a")))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("the size of the merged group (1) must be at least");
            // The other group does not come.
            assertThatThrownBy(() -> world.mergeRemoteGroup(hasty, 3, named("b")))
                .isInstanceOfSatisfying(
                    CollectiveTimeoutException.class,
                    e -> assertThat(e.missingRanks()).contains(2));
            world.barrier().await();
            assertThatThrownBy(() -> world.mergeRemoteGroup(meeting, 3, named("b")))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("other groups have taken 2")
                .hasMessageContaining("no room for the 2 of this one");
            return null;
          });
    }
  }
}
