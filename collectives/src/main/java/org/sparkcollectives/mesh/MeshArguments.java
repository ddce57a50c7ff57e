package org.sparkcollectives.mesh;

import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.function.Supplier;
import java.util.stream.IntStream;
import org.sparkcollectives.ProcessGroup;
import org.sparkcollectives.spi.CallCheck;

/**
 * Refuses wrong shapes, ranks and names, with messages that name the rank.
 *
 * @param group in which the mesh is made, and whose ranks it may have
 * @param operation what was called
 */
record MeshArguments(ProcessGroup group, String operation) {

  /**
   * Refuses a call on all ranks if it is wrong on one, or if ranks ask for different things. A
   * collective: all ranks of the group call it.
   *
   * @param request returns what this rank asks for; throws {@link IllegalArgumentException} if that
   *     is wrong
   */
  void agree(Supplier<String> request) {
    new CallCheck(group, operation).compare(() -> List.of(request.get()));
  }

  /** Refuses what is no mesh of ranks of the group. */
  void check(int[] shape, int[] ranks, List<String> names) {
    require(shape.length > 0, () -> "the shape has no dimension; give at least one extent");
    shape(shape, ranks.length, "the " + ranks.length + " that there are");
    names(names, shape.length);
    Set<Integer> members = new HashSet<>();
    IntStream.of(group.globalRanks()).forEach(members::add);
    Set<Integer> seen = new HashSet<>();
    for (int rank : ranks) {
      require(
          members.contains(rank),
          () ->
              "global rank "
                  + rank
                  + " is not in the group, whose global ranks are "
                  + Arrays.toString(group.globalRanks()));
      require(
          seen.add(rank),
          () ->
              "rank "
                  + rank
                  + " is twice in the mesh "
                  + Arrays.toString(ranks)
                  + "; name it once");
    }
  }

  /** Refuses a shape that does not have so many ranks. */
  void shape(int[] shape, int ranks, String what) {
    long size = 1;
    for (int extent : shape) {
      require(
          extent > 0,
          () ->
              "the shape "
                  + Arrays.toString(shape)
                  + " has an extent of "
                  + extent
                  + "; the least is 1");
      size = Math.min((long) Integer.MAX_VALUE, size * extent);
    }
    long found = size;
    require(
        found == ranks,
        () ->
            "the shape "
                + Arrays.toString(shape)
                + " has "
                + found
                + " ranks, which is not "
                + what);
  }

  /** Refuses names unless there is none, or one for each dimension. */
  void names(List<String> names, int dimensions) {
    require(
        names.isEmpty() || names.size() == dimensions,
        () ->
            "there are "
                + names.size()
                + " names "
                + names
                + " for "
                + dimensions
                + " dimensions; give one for each, or none");
    Set<String> seen = new HashSet<>();
    for (String name : names) {
      require(name != null && !name.isEmpty(), () -> "a name in " + names + " is empty");
      require(seen.add(name), () -> "the name \"" + name + "\" is twice in " + names);
    }
  }

  void require(boolean holds, Supplier<String> what) {
    if (!holds) {
      throw new IllegalArgumentException(
          operation
              + " of group \""
              + group.name()
              + "\" on rank "
              + group.rank()
              + " of "
              + group.size()
              + ": "
              + what.get());
    }
  }
}
