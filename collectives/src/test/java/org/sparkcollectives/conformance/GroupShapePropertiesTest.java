package org.sparkcollectives.conformance;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.stream.IntStream;
import net.jqwik.api.Arbitraries;
import net.jqwik.api.Arbitrary;
import net.jqwik.api.Combinators;
import net.jqwik.api.ForAll;
import net.jqwik.api.Property;
import net.jqwik.api.Provide;
import net.jqwik.api.constraints.IntRange;
import net.jqwik.api.constraints.Size;
import org.sparkcollectives.DType;
import org.sparkcollectives.ProcessGroup;
import org.sparkcollectives.Tensor;
import org.sparkcollectives.testing.GroupRuns;
import org.sparkcollectives.testing.Paths;

/**
 * Tests groups of any shape, made in every way. Which rank is where is checked by what arrives
 * where.
 */
class GroupShapePropertiesTest {

  private static final int WORLD = 6;

  /** Returns some ranks of the world, in any order. */
  @Provide
  Arbitrary<List<Integer>> members() {
    return Combinators.combine(permutations(), Arbitraries.integers().between(1, WORLD))
        .as((ranks, size) -> ranks.subList(0, size));
  }

  private static Arbitrary<List<Integer>> permutations() {
    return Arbitraries.shuffle(IntStream.range(0, WORLD).boxed().toList());
  }

  /** Returns groups that share no rank, of some ranks of the world. */
  @Provide
  Arbitrary<List<int[]>> subgroups() {
    return Combinators.combine(
            permutations(), Arbitraries.integers().between(1, 3).list().ofMaxSize(4).ofMinSize(1))
        .as(
            (ranks, sizes) -> {
              List<int[]> groups = new ArrayList<>();
              int from = 0;
              for (int size : sizes) {
                int to = Math.min(WORLD, from + size);
                if (from < to) {
                  groups.add(ranks.subList(from, to).stream().mapToInt(i -> i).toArray());
                }
                from = to;
              }
              return groups;
            });
  }

  private static void ranks(GroupRuns.Body<Void> body) {
    GroupRuns.run(WORLD, Paths.MIXED, body);
  }

  @Property(tries = 40)
  void aGroupOfAnyRanksInAnyOrder(
      @ForAll("members") List<Integer> members,
      @ForAll @Size(value = WORLD) List<@IntRange(max = WORLD - 1) Integer> rotation) {
    int[] ranks = members.stream().mapToInt(i -> i).toArray();
    // These are some of the group's ranks, named by their ranks in the world, too.
    int[] nested =
        IntStream.range(0, (ranks.length + 1) / 2)
            .map(i -> ranks[(i + rotation.get(0)) % ranks.length])
            .toArray();
    ranks(
        world -> {
          ProcessGroup group = world.newGroup(ranks);
          assertShape(world, group, ranks);
          if (group != null) {
            assertShape(world, group.newGroup(nested), nested);
          }
          return null;
        });
  }

  @Property(tries = 40)
  void aSplitByAnyColoursAndKeys(
      @ForAll @Size(value = WORLD) List<@IntRange(min = -1, max = 3) Integer> colors,
      @ForAll @Size(value = WORLD) List<@IntRange(min = -2, max = 2) Integer> keys) {
    ranks(
        world -> {
          int color = colors.get(world.rank());
          int[] members =
              IntStream.range(0, WORLD)
                  .boxed()
                  .filter(rank -> color >= 0 && colors.get(rank) == color)
                  .sorted(Comparator.comparing(keys::get).thenComparing(rank -> rank))
                  .mapToInt(i -> i)
                  .toArray();
          assertShape(world, world.split(color, keys.get(world.rank())), members);
          return null;
        });
  }

  @Property(tries = 40)
  void subgroupsByEnumeration(@ForAll("subgroups") List<int[]> groups) {
    ranks(
        world -> {
          int[] mine =
              groups.stream()
                  .filter(ranks -> contains(ranks, world.rank()))
                  .findFirst()
                  .orElse(new int[0]);
          assertShape(world, world.newSubgroups(groups), mine);
          return null;
        });
  }

  @Property
  void subgroupsBySize(@ForAll @IntRange(min = 1, max = WORLD) int size) {
    ranks(
        world -> {
          if (WORLD % size != 0) {
            assertThatThrownBy(() -> world.newSubgroups(size))
                .isInstanceOf(IllegalArgumentException.class);
            return null;
          }
          int first = world.rank() / size * size;
          int[] members = IntStream.range(first, first + size).toArray();
          assertShape(world, world.newSubgroups(size), members);
          return null;
        });
  }

  private static boolean contains(int[] ranks, int rank) {
    return Arrays.stream(ranks).anyMatch(each -> each == rank);
  }

  /**
   * Asserts that a group has these members of the world, in this order, and that they communicate
   * in it.
   */
  private static void assertShape(ProcessGroup world, ProcessGroup group, int[] members) {
    if (!contains(members, world.rank())) {
      assertThat(group).isNull();
      return;
    }
    assertThat(group.size()).isEqualTo(members.length);
    assertThat(group.globalRanks()).isEqualTo(members);
    assertThat(group.globalRank(group.rank())).isEqualTo(world.rank());
    for (int rank = 0; rank < WORLD; rank++) {
      int global = rank;
      if (contains(members, rank)) {
        assertThat(members[group.groupRank(rank)]).isEqualTo(rank);
      } else {
        assertThatThrownBy(() -> group.groupRank(global))
            .isInstanceOf(IllegalArgumentException.class)
            .hasMessageContaining("Global rank " + rank + " is not in group");
      }
    }
    int[] all = new int[members.length];
    group.allGather(Tensor.of(all), Tensor.of(world.rank())).await();
    assertThat(all).isEqualTo(members);
    int root = members.length - 1;
    Tensor last = Tensor.allocate(DType.INT32, 1);
    last.copyFrom(new int[] {world.rank()});
    group.broadcast(last, root).await();
    assertThat((int[]) last.array()).containsExactly(members[root]);
  }
}
