package org.sparkcollectives.mesh;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.io.InputStream;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.function.Consumer;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import java.util.stream.StreamSupport;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.sparkcollectives.GroupOptions;
import org.sparkcollectives.ProcessGroup;
import org.sparkcollectives.ProcessGroups;
import org.sparkcollectives.store.HashStore;

/** Tests what ranks a mesh and its views have, one rank of a dry run at a time. */
class DeviceMeshTest {

  /** Runs {@code test} as each of the ranks of a world, one after the other. */
  private static void eachRankOf(int size, Consumer<ProcessGroup> test) {
    for (int rank = 0; rank < size; rank++) {
      asRank(rank, size, test);
    }
  }

  private static void asRank(int rank, int size, Consumer<ProcessGroup> test) {
    try (HashStore store = new HashStore();
        ProcessGroup world =
            ProcessGroups.create(store, rank, size, GroupOptions.defaults().withBackend("fake"))) {
      test.accept(world);
    }
  }

  static Stream<int[]> shapes() {
    List<int[]> shapes = new ArrayList<>();
    for (int first = 1; first <= 12; first++) {
      shapes.add(new int[] {first});
      for (int second = 1; first * second <= 12; second++) {
        shapes.add(new int[] {first, second});
        for (int third = 1; first * second * third <= 12; third++) {
          shapes.add(new int[] {first, second, third});
        }
      }
    }
    return shapes.stream();
  }

  @ParameterizedTest
  @MethodSource("shapes")
  void theRankInADimensionsGroupIsTheCoordinate(int... shape) {
    int size = Arrays.stream(shape).reduce(1, (a, b) -> a * b);
    // Descending, so that no group is sorted.
    int[] ranks = IntStream.range(0, size).map(each -> size - 1 - each).toArray();
    for (int rank : IntStream.of(0, size / 2, size - 1).distinct().toArray()) {
      asRank(
          rank,
          size,
          world -> {
            try (DeviceMesh mesh = DeviceMesh.of(world, shape, ranks)) {
              int[] coordinate = mesh.coordinate();
              int product = 1;
              int place = 0;
              for (int dimension = 0; dimension < shape.length; dimension++) {
                ProcessGroup group = mesh.group(dimension);
                assertThat(group.rank()).isEqualTo(coordinate[dimension]);
                product *= group.size();
                place = place * shape[dimension] + coordinate[dimension];
              }
              assertThat(product).isEqualTo(size);
              assertThat(mesh.ranks()[place]).isEqualTo(world.rank());
              for (int dimension = 0; dimension < shape.length; dimension++) {
                int stride = 1;
                for (int after = dimension + 1; after < shape.length; after++) {
                  stride *= shape[after];
                }
                int[] line = new int[shape[dimension]];
                for (int i = 0; i < line.length; i++) {
                  line[i] = ranks[place + (i - coordinate[dimension]) * stride];
                }
                assertThat(mesh.group(dimension).globalRanks()).isEqualTo(line);
              }
            }
          });
    }
  }

  private static JsonNode table() {
    try (InputStream file = DeviceMeshTest.class.getResourceAsStream("device-mesh.json")) {
      return new ObjectMapper().readTree(file);
    } catch (IOException e) {
      throw new AssertionError(e);
    }
  }

  private static int[] ints(JsonNode node) {
    List<Integer> all = new ArrayList<>();
    node.forEach(
        each -> {
          if (each.isArray()) {
            all.addAll(IntStream.of(ints(each)).boxed().toList());
          } else {
            all.add(each.asInt());
          }
        });
    return all.stream().mapToInt(Integer::intValue).toArray();
  }

  private static String[] names(JsonNode node) {
    return StreamSupport.stream(node.spliterator(), false)
        .map(JsonNode::asText)
        .toArray(String[]::new);
  }

  @Test
  void meshesSlicesAndFlattenedMeshesAreThoseOfTorch() {
    int[] checked = {0};
    for (JsonNode mesh : table()) {
      int size = mesh.get("worldSize").asInt();
      eachRankOf(
          size,
          world -> {
            JsonNode expected = mesh.get("ranks").get(world.rank());
            assertThat(expected.get("rank").asInt()).isEqualTo(world.rank());
            DeviceMesh made =
                DeviceMesh.create(world, ints(mesh.get("shape")), names(mesh.get("names")));
            try (made) {
              assertThat(made.coordinate()).isEqualTo(ints(expected.get("coordinate")));
              assertThat(groups(made)).isEqualTo(expected.get("groups").toString());
              expected
                  .fields()
                  .forEachRemaining(each -> checkView(made, each.getKey(), each.getValue()));
              checked[0]++;
            }
          });
    }
    assertThat(checked[0]).isEqualTo(26);
  }

  private static void checkView(DeviceMesh mesh, String key, JsonNode expected) {
    String[] words = key.split(" ", -1);
    String[] names = Arrays.copyOfRange(words, 1, words.length);
    if (words[0].equals("slice") && expected.isTextual()) {
      assertThatThrownBy(() -> mesh.slice(names))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageContaining("must be in the order of the mesh");
    } else if (words[0].equals("slice")) {
      DeviceMesh slice = mesh.slice(names);
      assertThat(slice.names()).containsExactly(names);
      assertThat(slice.ranks()).isEqualTo(ints(expected.get("mesh")));
      assertThat(slice.coordinate()).isEqualTo(ints(expected.get("coordinate")));
      assertThat(groups(slice)).isEqualTo(expected.get("groups").toString());
    } else if (words[0].equals("flatten")) {
      String name = String.join("_", names);
      DeviceMesh flat = mesh.slice(names).flatten(name);
      assertThat(flat.names()).containsExactly(names(expected.get("name")));
      assertThat(flat.ranks()).isEqualTo(ints(expected.get("mesh")));
      assertThat(flat.localRank(name)).isEqualTo(expected.get("localRank").asInt());
      assertThat(mesh.group(name).globalRanks()).isEqualTo(ints(expected.get("group")));
      assertThat(mesh.slice(names).flatten(name)).isSameAs(flat).isSameAs(mesh.slice(name));
    }
  }

  private static String groups(DeviceMesh mesh) {
    return IntStream.range(0, mesh.shape().length)
        .mapToObj(mesh::group)
        .map(group -> Arrays.toString(group.globalRanks()).replace(" ", ""))
        .toList()
        .toString()
        .replace(" ", "");
  }

  @Test
  void aDimensionIsSplitInSeveralAndTheOthersKeepTheirGroups() {
    eachRankOf(
        12,
        world -> {
          DeviceMesh mesh = DeviceMesh.create(world, new int[] {2, 6}, "dp", "tp");
          try (mesh) {
            DeviceMesh finer = mesh.unflatten("tp", new int[] {3, 2}, "cp", "ep");
            assertThat(finer.shape()).containsExactly(2, 3, 2);
            assertThat(finer.names()).containsExactly("dp", "cp", "ep");
            int rank = world.rank();
            assertThat(finer.coordinate()).containsExactly(rank / 6, rank / 2 % 3, rank % 2);
            assertThat(finer.group("dp")).isSameAs(mesh.group("dp"));
            int base = rank / 6 * 6;
            assertThat(finer.group("cp").globalRanks())
                .containsExactly(base + rank % 2, base + 2 + rank % 2, base + 4 + rank % 2);
            assertThat(finer.slice("cp", "ep").ranks()).containsExactly(mesh.slice("tp").ranks());
            assertThatThrownBy(() -> mesh.unflatten("tp", new int[] {2, 2}, "a", "b"))
                .hasMessageContaining("the shape [2, 2] has 4 ranks, which is not the extent of");
            assertThatThrownBy(() -> mesh.unflatten("tp", new int[] {2, 3}, "a", "dp"))
                .hasMessageContaining("the name \"dp\" is in use");
            assertThatThrownBy(() -> mesh.unflatten("tp", new int[] {2, 3}))
                .hasMessageContaining("give a name for each new dimension");
            assertThatThrownBy(() -> mesh.unflatten("no", new int[] {2, 3}, "a", "b"))
                .hasMessageContaining("has no dimension \"no\"");
          }
        });
  }

  @Test
  void dimensionsWithASingleRankShareAGroupOfItAlone() {
    asRank(
        2,
        4,
        world -> {
          try (DeviceMesh mesh = DeviceMesh.create(world, new int[] {1, 4, 1}, "a", "b", "c")) {
            assertThat(mesh.group("a")).isSameAs(mesh.group("c"));
            assertThat(mesh.group("a").globalRanks()).containsExactly(2);
            assertThat(world.groups()).hasSize(2);
          }
          assertThat(world.groups()).isEmpty();
        });
  }

  @Test
  void wrongShapesNamesAndRanksAreRefusedBeforeAGroupIsMade() {
    asRank(
        1,
        8,
        world -> {
          refused(world, "has 16 ranks, which is not the 8 that there are", 4, 4);
          refused(world, "has an extent of 0", 2, 0);
          refused(world, "has an extent of -1", -1, -2);
          refused(world, "the shape has no dimension");
          refused(world, "ranks, which is not", 1 << 20, 1 << 20);
          assertThatThrownBy(() -> DeviceMesh.create(world, new int[] {2, 4}, "a"))
              .hasMessageContaining("there are 1 names [a] for 2 dimensions");
          assertThatThrownBy(() -> DeviceMesh.create(world, new int[] {2, 4}, "a", "a"))
              .hasMessageContaining("the name \"a\" is twice in [a, a]");
          assertThatThrownBy(() -> DeviceMesh.create(world, new int[] {2, 4}, "a", ""))
              .hasMessageContaining("is empty");
          assertThatThrownBy(() -> DeviceMesh.of(world, new int[] {2, 2}, new int[] {0, 1, 1, 2}))
              .isInstanceOf(IllegalArgumentException.class)
              .hasMessageContaining("on rank 1 of 8: rank 1 is twice in the mesh [0, 1, 1, 2]");
          assertThatThrownBy(() -> DeviceMesh.of(world, new int[] {2}, new int[] {0, 9}))
              .hasMessageContaining("global rank 9 is not in the group");
          assertThat(world.groups()).isEmpty();
        });
  }

  private static void refused(ProcessGroup world, String message, int... shape) {
    assertThatThrownBy(() -> DeviceMesh.create(world, shape))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("on rank 1 of 8")
        .hasMessageContaining(message);
  }

  @Test
  void viewsRefuseWhatTheyDoNotHave() {
    asRank(
        5,
        8,
        world -> {
          try (DeviceMesh mesh = DeviceMesh.create(world, new int[] {2, 4}, "dp", "tp")) {
            assertThatThrownBy(() -> mesh.group(2))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining("Rank 5: DeviceMesh([2, 4][dp, tp]) has no dimension 2");
            assertThatThrownBy(() -> mesh.group("no")).hasMessageContaining("only [dp, tp]");
            assertThatThrownBy(mesh::slice).hasMessageContaining("name at least one");
            assertThatThrownBy(() -> mesh.slice("dp").abort(new IllegalStateException()))
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("only the whole mesh can be aborted");
            assertThatThrownBy(() -> mesh.flatten("tp")).hasMessageContaining("is in use");
            mesh.slice("tp").flatten("flat");
            assertThatThrownBy(() -> mesh.flatten("flat")).hasMessageContaining("is in use");
            mesh.slice("dp").close();
            assertThat(world.groups()).hasSize(3);
          }
        });
  }
}
