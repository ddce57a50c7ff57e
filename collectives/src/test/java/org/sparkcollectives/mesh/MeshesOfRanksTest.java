package org.sparkcollectives.mesh;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.Parameter;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.EnumSource;
import org.sparkcollectives.CollectiveException;
import org.sparkcollectives.ProcessGroup;
import org.sparkcollectives.Tensor;
import org.sparkcollectives.testing.GroupRuns;
import org.sparkcollectives.testing.InvocationName;
import org.sparkcollectives.testing.LeakCheck;
import org.sparkcollectives.testing.Paths;

/** Tests meshes of ranks that communicate. */
@ExtendWith({LeakCheck.class, InvocationName.class})
@ParameterizedClass(name = "{0}")
@EnumSource(
    value = Paths.class,
    names = {"HEAP", "TCP", "MIXED"})
class MeshesOfRanksTest {

  @Parameter private Paths paths;

  private <T> List<T> ranks(int size, GroupRuns.Body<T> body) {
    return GroupRuns.run(size, paths, body);
  }

  private static int sum(ProcessGroup group, int value) {
    int[] sum = {value};
    group.allReduce(Tensor.of(sum)).await();
    return sum[0];
  }

  @Test
  void eachDimensionReducesItsOwnRanks() {
    ranks(
        6,
        world -> {
          try (DeviceMesh mesh = DeviceMesh.create(world, new int[] {2, 3}, "dp", "tp")) {
            int column = world.rank() % 3;
            int row = world.rank() / 3;
            assertThat(sum(mesh.group("dp"), world.rank())).isEqualTo(2 * column + 3);
            assertThat(sum(mesh.group("tp"), world.rank())).isEqualTo(9 * row + 3);
            assertThat(sum(mesh.flatten("all").group("all"), world.rank())).isEqualTo(15);
          }
          assertThat(world.groups()).isEmpty();
          return null;
        });
  }

  @Test
  void groupsHaveTheOrderOfTheMeshAndNotOfTheRanks() {
    ranks(
        4,
        world -> {
          int[] ranks = {3, 1, 2, 0};
          try (DeviceMesh mesh = DeviceMesh.of(world, new int[] {2, 2}, ranks, "rows", "columns")) {
            int place = IntStream.range(0, 4).filter(i -> ranks[i] == world.rank()).sum();
            assertThat(mesh.coordinate()).containsExactly(place / 2, place % 2);
            assertThat(mesh.localRank("rows")).isEqualTo(place / 2);
            assertThat(mesh.localRank("columns")).isEqualTo(place % 2);
            int[] all = new int[2];
            mesh.group("columns")
                .allGather(Tensor.of(all), Tensor.of(new int[] {world.rank()}))
                .await();
            assertThat(all).containsExactly(place < 2 ? new int[] {3, 1} : new int[] {2, 0});
          }
          return null;
        });
  }

  @Test
  void ranksOutsideOfTheMeshHaveNoCoordinateAndTakeNoPart() {
    ranks(
        5,
        world -> {
          try (DeviceMesh mesh = DeviceMesh.create(world, new int[] {2, 2}, "dp", "tp")) {
            if (world.rank() < 4) {
              assertThat(sum(mesh.group(1), 1)).isEqualTo(2);
              assertThat(sum(mesh.flatten("all").group(0), 1)).isEqualTo(4);
              mesh.unflatten("tp", new int[] {1, 2}, "a", "b");
            } else {
              assertThat(mesh.coordinate()).isNull();
              assertThat(mesh.ranks()).containsExactly(0, 1, 2, 3);
              assertThat(mesh.names()).containsExactly("dp", "tp");
              for (Runnable call :
                  new Runnable[] {
                    () -> mesh.group(0),
                    () -> mesh.group("dp"),
                    () -> mesh.localRank("dp"),
                    () -> mesh.slice("dp"),
                    () -> mesh.flatten("all")
                  }) {
                assertThatThrownBy(call::run)
                    .isInstanceOf(IllegalStateException.class)
                    .hasMessageContaining("Rank 4 is not in the mesh of the ranks [0, 1, 2, 3]");
              }
            }
          }
          return null;
        });
  }

  @Test
  void aMeshThatIsWrongOrDiffersOnOneRankIsRefusedOnAll() {
    ranks(
        4,
        world -> {
          boolean other = world.rank() == 2;
          int[] shape = {2, 2};
          assertThatThrownBy(() -> DeviceMesh.of(world, shape, new int[] {0, 1, 1, 2}, "dp", "tp"))
              .isInstanceOf(IllegalArgumentException.class)
              .hasMessageContaining("rank 1 is twice");
          assertThatThrownBy(() -> DeviceMesh.create(world, shape, other ? "x" : "dp", "tp"))
              .isInstanceOf(IllegalArgumentException.class)
              .hasMessageContaining("rank 2 gives a mesh of shape [2, 2]")
              .hasMessageContaining("names [x, tp]")
              .hasMessageContaining("on rank " + world.rank() + " of 4: ");
          assertThatThrownBy(
                  () -> DeviceMesh.create(world, other ? new int[] {4, 2} : shape, "dp", "tp"))
              .isInstanceOf(IllegalArgumentException.class)
              .hasMessageContaining("on rank " + world.rank() + " of 4: ")
              .hasMessageContaining(other ? "" : "rank 2 refused its arguments: ")
              .hasMessageContaining("the shape [4, 2] has 8 ranks");
          assertThatThrownBy(() -> DeviceMesh.create(world, other ? null : shape, "dp", "tp"))
              .isInstanceOf(IllegalArgumentException.class)
              .hasMessageContaining("NullPointerException");
          assertThatThrownBy(
                  () -> DeviceMesh.create(world, shape, other ? null : new String[] {"dp", "tp"}))
              .isInstanceOf(IllegalArgumentException.class)
              .hasMessageContaining("NullPointerException");
          try (DeviceMesh mesh = DeviceMesh.create(world, shape, "dp", "tp")) {
            assertThatThrownBy(() -> mesh.flatten(other ? "a" : "b"))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("as a");
            assertThat(sum(mesh.group("dp"), 1)).isEqualTo(2);
          }
          return null;
        });
  }

  @Test
  void aMeshIsMadeOfGroupsThatThereAre() {
    ranks(
        6,
        world -> {
          int rank = world.rank();
          ProcessGroup row = world.split(rank / 3, -rank);
          ProcessGroup column = world.split(rank % 3, rank);
          try (DeviceMesh mesh = DeviceMesh.ofGroups(world, List.of(column, row), "dp", "tp")) {
            assertThat(mesh.ranks()).containsExactly(2, 1, 0, 5, 4, 3);
            assertThat(mesh.coordinate()).containsExactly(rank / 3, 2 - rank % 3);
            assertThat(mesh.group("tp")).isSameAs(row);
          }
          assertThat(sum(row, 1)).isEqualTo(3);
          assertThatThrownBy(() -> DeviceMesh.ofGroups(world, List.of(row, row)))
              .isInstanceOf(IllegalArgumentException.class)
              .hasMessageContaining("the shape [3, 3] has 9 ranks");
          ProcessGroup twisted =
              world.newSubgroups(List.of(new int[] {0, 4}, new int[] {1, 3}, new int[] {2, 5}));
          assertThatThrownBy(() -> DeviceMesh.ofGroups(world, List.of(twisted, row)))
              .isInstanceOf(IllegalArgumentException.class)
              .hasMessageContaining("form no mesh");
          return null;
        });
  }

  @Test
  void anAbortedMeshEndsItsGroupsAndLeavesTheWorld() {
    ranks(
        4,
        world -> {
          try (DeviceMesh mesh = DeviceMesh.create(world, new int[] {2, 2}, "dp", "tp")) {
            assertThat(sum(mesh.group("dp"), 1)).isEqualTo(2);
            world.barrier().await();
            if (world.rank() == 3) {
              mesh.abort(new IllegalStateException("enough"));
            } else if (world.rank() != 0) {
              ProcessGroup withRank3 = mesh.group(world.rank() == 1 ? "dp" : "tp");
              assertThatThrownBy(() -> sum(withRank3, 1))
                  .isInstanceOf(CollectiveException.class)
                  .hasMessageContaining("enough");
            }
          }
          assertThat(sum(world, 1)).isEqualTo(4);
          return null;
        });
  }
}
