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
  MeshLayout layout(List<String> names) {
    MeshArguments arguments = new MeshArguments(group, "device mesh of groups");
    int[] shape = groups.stream().mapToInt(ProcessGroup::size).toArray();
    MeshAgreement.reach(
        group,
        "a mesh of groups of the sizes " + Arrays.toString(shape) + " with the names " + names,
        () -> {
          arguments.require(shape.length > 0, () -> "there is no group; give at least one");
          arguments.shape(shape, group.size(), "the group's size of " + group.size());
          arguments.names(names, shape.length);
        });
    int[] ranks = ranks(shape);
    MeshLayout layout = MeshLayout.of(shape, ranks);
    MeshAgreement.reach(
        group,
        "a mesh of the ranks " + Arrays.toString(ranks),
        () -> {
          arguments.check(shape, ranks, names);
          requireLines(arguments, layout);
        });
    return layout;
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
