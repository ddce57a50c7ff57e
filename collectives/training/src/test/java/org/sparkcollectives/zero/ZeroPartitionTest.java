package org.sparkcollectives.zero;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.JsonNode;
import java.io.IOException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.constraints.IntRange;
import net.jqwik.api.constraints.LongRange;
import net.jqwik.api.constraints.Size;
import org.junit.jupiter.api.Test;
import org.sparkcollectives.testing.TrainingTable;

/** Tests which rank owns which parameter. */
class ZeroPartitionTest {

  @Test
  void partitionsAndLoadsAreThoseOfTheTable() throws IOException {
    for (JsonNode each : TrainingTable.cases("zero-partition")) {
      long[] counts = TrainingTable.longs(each.get("counts"));
      ZeroPartition partition =
          ZeroPartition.greedy(groups(each, counts), each.get("worldSize").intValue());
      long[] loads = TrainingTable.longs(each.get("loads"));
      assertThat(partition.parameters()).isEqualTo(counts.length);
      assertThat(partition.ranks()).isEqualTo(loads.length);
      for (int rank = 0; rank < loads.length; rank++) {
        List<Integer> owned = new ArrayList<>();
        each.get("partition").get(rank).forEach(g -> g.forEach(i -> owned.add(i.intValue())));
        assertThat(partition.ownedBy(rank))
            .as("%s, rank %d", each, rank)
            .containsExactlyInAnyOrder(owned.toArray(Integer[]::new))
            .isSorted();
        assertThat(Arrays.stream(partition.ownedBy(rank)).mapToLong(i -> counts[i]).sum())
            .isEqualTo(loads[rank]);
      }
    }
  }

  /** Returns the counts of each group; in the table groups are of consecutive parameters. */
  private static List<long[]> groups(JsonNode table, long[] counts) {
    if (table.get("groups").isNull()) {
      return List.of(counts);
    }
    List<long[]> groups = new ArrayList<>();
    table
        .get("groups")
        .forEach(
            each ->
                groups.add(
                    Arrays.stream(TrainingTable.longs(each)).map(i -> counts[(int) i]).toArray()));
    return groups;
  }

  @Property(tries = 200)
  void eachParameterHasOneOwnerAndNoRankHasMoreThanTheLeastAndOneParameter(
      @ForAll @Size(max = 30) List<@LongRange(max = 1000) Long> sizes,
      @ForAll @IntRange(min = 1, max = 6) int ranks) {
    long[] counts = sizes.stream().mapToLong(each -> each).toArray();
    ZeroPartition partition = ZeroPartition.greedy(counts, ranks);
    long[] loads = new long[ranks];
    int owned = 0;
    for (int rank = 0; rank < ranks; rank++) {
      for (int i : partition.ownedBy(rank)) {
        assertThat(partition.owner(i)).isEqualTo(rank);
        loads[rank] += counts[i];
        owned++;
      }
    }
    assertThat(owned).isEqualTo(counts.length);
    long largest = Arrays.stream(counts).max().orElse(0);
    long least = Arrays.stream(loads).min().orElseThrow();
    assertThat(Arrays.stream(loads).max().orElseThrow()).isLessThanOrEqualTo(least + largest);
  }

  @Test
  void aPartitionOfOnesOwnIsTakenAsItIs() {
    ZeroPartition own = ZeroPartition.of(new int[] {2, 0, 2}, 3);
    assertThat(own.ownedBy(2)).containsExactly(0, 2);
    assertThat(own.ownedBy(1)).isEmpty();
    assertThat(own)
        .isEqualTo(ZeroPartition.of(new int[] {2, 0, 2}, 3))
        .hasSameHashCodeAs(ZeroPartition.of(new int[] {2, 0, 2}, 3))
        .isNotEqualTo(ZeroPartition.of(new int[] {2, 0, 2}, 4))
        .isNotEqualTo(ZeroPartition.of(new int[] {2, 0, 1}, 3))
        .hasToString("owners [2, 0, 2] of 3 ranks");
  }

  @Test
  void whatCannotBeIsRefused() {
    assertThatThrownBy(() -> ZeroPartition.of(new int[] {0, 3}, 3))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("Parameter 1 cannot belong to rank 3 of 3");
    assertThatThrownBy(() -> ZeroPartition.greedy(new long[] {1, -2}, 3))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("Parameter 1 cannot have -2 elements");
    assertThatThrownBy(() -> ZeroPartition.greedy(new long[] {1}, 0))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("at least one rank");
  }
}
