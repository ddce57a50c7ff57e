package org.sparkcollectives.spark.internal.elastic;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.sparkcollectives.spark.elastic.LostRows;

/** Tests who has which partitions, for drawn members. */
class PartitionAssignmentTest {

  private static final int SEED = 11;
  private static final int DRAWS = 3000;

  private final Random random = new Random(SEED);

  /** A quorum of some of the replicas. */
  private record Drawn(int partitions, List<Integer> members) {

    List<List<Integer>> assigned() {
      return new PartitionAssignment(LostRows.TAKE_OVER, partitions).of(members);
    }

    int lost() {
      return partitions - members.size();
    }

    /** Returns the replica that has each partition. */
    Map<Integer, Integer> owners() {
      Map<Integer, Integer> owners = new HashMap<>();
      List<List<Integer>> assigned = assigned();
      for (int rank = 0; rank < members.size(); rank++) {
        for (int partition : assigned.get(rank)) {
          owners.put(partition, members.get(rank));
        }
      }
      return owners;
    }

    Drawn without(int member) {
      return new Drawn(partitions, members.stream().filter(each -> each != member).toList());
    }
  }

  private Drawn draw() {
    int partitions = 2 + random.nextInt(40);
    List<Integer> all = new ArrayList<>(IntStream.range(0, partitions).boxed().toList());
    Collections.shuffle(all, random);
    return new Drawn(
        partitions, all.subList(0, 1 + random.nextInt(partitions)).stream().sorted().toList());
  }

  @Test
  void everyPartitionIsThereOnceAndAMemberHasItsOwn() {
    for (int i = 0; i < DRAWS; i++) {
      Drawn drawn = draw();
      List<List<Integer>> assigned = drawn.assigned();
      assertThat(assigned.stream().flatMap(List::stream))
          .as("%s", drawn)
          .containsExactlyInAnyOrderElementsOf(
              IntStream.range(0, drawn.partitions).boxed().toList());
      for (int rank = 0; rank < assigned.size(); rank++) {
        assertThat(assigned.get(rank)).as("%s", drawn).isSorted().contains(drawn.members.get(rank));
      }
    }
  }

  @Test
  void nobodyTakesOverMoreThanItsShare() {
    for (int i = 0; i < DRAWS; i++) {
      Drawn drawn = draw();
      int share = (drawn.lost() + drawn.members.size() - 1) / drawn.members.size();
      assertThat(drawn.assigned())
          .as("%s", drawn)
          .allMatch(each -> each.size() >= 1 && each.size() <= 1 + share);
    }
  }

  @Test
  void theFirstLossMovesTheLostPartitionOnly() {
    for (int partitions = 2; partitions < 40; partitions++) {
      Drawn all = new Drawn(partitions, IntStream.range(0, partitions).boxed().toList());
      for (int lost = 0; lost < partitions; lost++) {
        Map<Integer, Integer> after = all.without(lost).owners();
        after.remove(lost);
        assertThat(after.entrySet()).allMatch(each -> each.getKey().equals(each.getValue()));
      }
    }
  }

  @Test
  void aChangeOfOneMemberMovesFewPartitionsOfTheOthers() {
    int needed = 0;
    int moved = 0;
    for (int i = 0; i < DRAWS; i++) {
      Drawn before = draw();
      if (before.members.size() == 1) {
        continue;
      }
      int lost = before.members.get(random.nextInt(before.members.size()));
      Map<Integer, Integer> owners = before.owners();
      Map<Integer, Integer> after = before.without(lost).owners();
      needed += Collections.frequency(owners.values(), lost);
      moved +=
          (int)
              owners.entrySet().stream()
                  .filter(e -> !e.getValue().equals(after.get(e.getKey())))
                  .count();
    }
    assertThat(moved - needed).as("seed %s, of %s", SEED, needed).isLessThan(needed / 2);
  }

  @Test
  void whereNobodyTakesOverEachMemberHasItsOwn() {
    for (LostRows lostRows : List.of(LostRows.DROP, LostRows.WAIT)) {
      assertThat(new PartitionAssignment(lostRows, 4).of(List.of(0, 2, 3)))
          .isEqualTo(List.of(List.of(0), List.of(2), List.of(3)));
    }
  }
}
