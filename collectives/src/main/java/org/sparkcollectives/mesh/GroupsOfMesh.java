package org.sparkcollectives.mesh;

import java.util.Arrays;
import java.util.List;
import org.sparkcollectives.ProcessGroup;
import org.sparkcollectives.Tensor;

/**
 * Groups that there are already and of which a mesh is to be made.
 *
 * @param group with all ranks of the mesh
 * @param groups one for each dimension, with this rank in it
 */
record GroupsOfMesh(ProcessGroup group, List<ProcessGroup> groups) {

  /**
   * Returns the mesh that the groups of all ranks form. A collective, in which all ranks are
   * refused if they form none.
   *
   * @param names of the dimensions, or none
   */
  MeshLayout layout(String... names) {
    MeshArguments arguments = new MeshArguments(group, "device mesh of groups");
    arguments.agree(
        () -> {
          int[] sizes = sizes();
          List<String> given = Arrays.asList(names);
          arguments.require(sizes.length > 0, () -> "there is no group; give at least one");
          arguments.shape(sizes, group.size(), "the group's size of " + group.size());
          arguments.names(given, sizes.length);
          return "a mesh of groups of the sizes "
              + Arrays.toString(sizes)
              + " with the names "
              + given;
        });
    int[] shape = sizes();
    int[] ranks = ranks(shape);
    MeshLayout layout = MeshLayout.of(shape, ranks);
    arguments.agree(
        () -> {
          arguments.check(shape, ranks, Arrays.asList(names));
          requireLines(arguments, layout);
          return "a mesh of the ranks " + Arrays.toString(ranks);
        });
    return layout;
  }

  private int[] sizes() {
    return groups.stream().mapToInt(ProcessGroup::size).toArray();
  }

  /** Returns the mesh that the coordinates of all ranks make, with -1 where none has come. */
  private int[] ranks(int... shape) {
    int place = 0;
    for (int dimension = 0; dimension < shape.length; dimension++) {
      place = place * shape[dimension] + groups.get(dimension).rank();
    }
    int[] places = new int[group.size()];
    group.allGather(Tensor.of(places), Tensor.of(new int[] {place})).await();
    int[] ranks = new int[group.size()];
    Arrays.fill(ranks, -1);
    for (int each = 0; each < places.length; each++) {
      ranks[places[each]] = group.globalRank(each);
    }
    return ranks;
  }

  /** Refuses groups that are not the lines of the mesh. */
  private void requireLines(MeshArguments arguments, MeshLayout layout) {
    int own = group.globalRank(group.rank());
    for (int dimension = 0; dimension < groups.size(); dimension++) {
      int[] line = layout.slice(dimension).block(own);
      int[] given = groups.get(dimension).globalRanks();
      arguments.require(
          Arrays.equals(line, given),
          () ->
              "the groups form no mesh: one has the ranks "
                  + Arrays.toString(given)
                  + ", and "
                  + Arrays.toString(line)
                  + " are expected");
    }
  }
}
