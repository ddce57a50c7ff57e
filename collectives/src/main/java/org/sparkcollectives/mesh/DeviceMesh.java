package org.sparkcollectives.mesh;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.stream.IntStream;
import org.sparkcollectives.ProcessGroup;

/**
 * An arrangement of ranks in a grid of any number of dimensions, with a group for each: c10d's
 * {@code DeviceMesh}.
 *
 * <p>The ranks of a mesh are <b>global</b> ranks, in row-major order. The group of a dimension has
 * the ranks whose coordinates differ in that dimension only, in the order of the mesh: the rank in
 * the group is the coordinate, whatever the order of the mesh is. In c10d the ranks of a group are
 * sorted instead.
 *
 * <p><b>Collectives.</b> {@link #create}, {@link #of} and {@link #ofGroups} are called by all ranks
 * of the group or groups that they are given, {@link #flatten} and {@link #unflatten} by all ranks
 * of the mesh that these made; all with the same arguments and in the same order. They block until
 * all have come, for the group's timeout at the most. If the arguments are wrong on one rank, or
 * differ, all of them throw {@link IllegalArgumentException}, and nothing is made. All other
 * methods are local and never block.
 *
 * <p>A rank of the group that is not in the mesh gets a mesh in which it has no {@link
 * #coordinate}; there most methods throw {@link IllegalStateException}.
 *
 * <p>Immutable, and may be used by several threads, which must agree on the order of collectives.
 */
public final class DeviceMesh implements AutoCloseable {

  private final MeshGroups owner;
  private final MeshLayout layout;
  private final List<String> names;
  private final List<ProcessGroup> groups;
  private final int rank;
  private final boolean root;

  private DeviceMesh(
      MeshGroups owner,
      MeshLayout layout,
      List<String> names,
      List<ProcessGroup> groups,
      boolean root) {
    this.owner = owner;
    this.layout = layout;
    this.names = names;
    this.groups = groups;
    this.rank = owner.members().globalRank(owner.members().rank());
    this.root = root;
  }

  /**
   * Arranges the first ranks of a group: as many as the shape has.
   *
   * @param group whose ranks all call this
   * @param shape the extent of each dimension, at least one; their product may be less than the
   *     group's size
   * @param names one for each dimension, or none
   */
  public static DeviceMesh create(ProcessGroup group, int[] shape, String... names) {
    int[] all = group.globalRanks();
    long size = 1;
    for (int extent : shape == null ? new int[0] : shape) {
      size = Math.min((long) Integer.MAX_VALUE, size * Math.max(0, extent));
    }
    // Where the shape is larger than the group, or null, the check of all ranks says so.
    return of(group, shape, Arrays.copyOf(all, (int) Math.min(size, all.length)), names);
  }

  /**
   * Arranges given ranks.
   *
   * @param group whose ranks all call this
   * @param shape the extent of each dimension, at least one
   * @param ranks the <b>global</b> ranks in row-major order, each once; as many as the shape has
   * @param names one for each dimension, or none
   */
  public static DeviceMesh of(ProcessGroup group, int[] shape, int[] ranks, String... names) {
    MeshArguments arguments = new MeshArguments(group, "device mesh");
    arguments.agree(
        () -> {
          List<String> given = Arrays.asList(names);
          arguments.check(shape, ranks, given);
          return "a mesh of shape "
              + Arrays.toString(shape)
              + " with the ranks "
              + Arrays.toString(ranks)
              + " and the names "
              + given;
        });
    List<String> named = Arrays.asList(names.clone());
    ProcessGroup members = ranks.length == group.size() ? group : group.newGroup(ranks);
    MeshLayout layout = MeshLayout.of(shape.clone(), ranks.clone());
    if (members == null) {
      return new DeviceMesh(new MeshGroups(group), layout, named, List.of(), true);
    }
    MeshGroups owner = new MeshGroups(members);
    if (members != group) {
      owner.own(members);
    }
    try {
      List<ProcessGroup> groups = owner.ofDimensions(layout, named, 0, shape.length);
      return new DeviceMesh(owner, layout, named, groups, true);
    } catch (RuntimeException | Error e) {
      owner.close();
      throw e;
    }
  }

  /**
   * Makes a mesh from existing groups, one for each dimension. Each rank of the mesh calls it with
   * its own. The mesh does not close them.
   *
   * @param group with all ranks of the mesh and no other
   * @param groups in each, this rank's rank is its coordinate in that dimension
   * @param names one for each dimension, or none
   */
  public static DeviceMesh ofGroups(
      ProcessGroup group, List<ProcessGroup> groups, String... names) {
    MeshLayout layout = new GroupsOfMesh(group, groups).layout(names);
    List<String> named = Arrays.asList(names.clone());
    MeshGroups owner = new MeshGroups(group);
    owner.ofDimensions(layout, named, 0, 0);
    return new DeviceMesh(owner, layout, named, List.copyOf(groups), true);
  }

  /** Returns the extent of each dimension. A copy. */
  public int[] shape() {
    return layout.shape().clone();
  }

  /** Returns the names of the dimensions; empty if they have none. An immutable list. */
  public List<String> names() {
    return List.copyOf(names);
  }

  /**
   * Returns the global ranks in row-major order; of a {@link #slice}, those with this rank. A copy.
   */
  public int[] ranks() {
    int[] block = layout.block(rank);
    return block == null ? layout.blocks().get(0).clone() : block.clone();
  }

  /**
   * Returns this rank's index in each dimension. A copy.
   *
   * @return null where this rank is not in the mesh
   */
  public int[] coordinate() {
    return layout.block(rank) == null ? null : layout.coordinate(rank);
  }

  /**
   * Returns the group of a dimension, in which this rank is its coordinate there. Dimensions with a
   * single rank share a group. The mesh closes it.
   *
   * @param dimension from 0
   * @throws IllegalArgumentException if there is no such dimension
   * @throws IllegalStateException where this rank is not in the mesh
   */
  public ProcessGroup group(int dimension) {
    requireMember();
    return groups.get(existing(dimension));
  }

  /**
   * Returns the group of a dimension, or of a {@link #flatten flattened} mesh, by its name.
   *
   * @throws IllegalArgumentException if no dimension has that name
   * @throws IllegalStateException where this rank is not in the mesh
   */
  public ProcessGroup group(String name) {
    requireMember();
    DeviceMesh flat = names.contains(name) ? null : owner.flattened(name);
    return flat == null ? groups.get(dimension(name)) : flat.groups.get(0);
  }

  /**
   * Returns this rank's index in a dimension, which is its rank in the group of that dimension.
   *
   * @throws IllegalArgumentException if no dimension has that name
   * @throws IllegalStateException where this rank is not in the mesh
   */
  public int localRank(String name) {
    return group(name).rank();
  }

  /**
   * Returns the mesh that some dimensions span and that has this rank: a row of a matrix, for
   * instance. It has the groups of this mesh, and closing it does nothing.
   *
   * @param chosen at least one, in the order in which they are in this mesh; or the name of a
   *     {@link #flatten flattened} mesh alone
   * @throws IllegalArgumentException if no dimension has such a name, or the order is another
   * @throws IllegalStateException where this rank is not in the mesh
   */
  public DeviceMesh slice(String... chosen) {
    requireMember();
    List<String> wanted = Arrays.asList(chosen.clone());
    if (wanted.size() == 1 && !names.contains(wanted.get(0))) {
      DeviceMesh flat = owner.flattened(wanted.get(0));
      if (flat != null) {
        return flat;
      }
    }
    int[] dimensions = wanted.stream().mapToInt(this::dimension).toArray();
    MeshArguments arguments = new MeshArguments(owner.members(), "slice of a mesh");
    arguments.require(dimensions.length > 0, () -> "name at least one of the dimensions " + names);
    for (int i = 1; i < dimensions.length; i++) {
      arguments.require(
          dimensions[i - 1] < dimensions[i],
          () -> "the dimensions " + wanted + " must be in the order of the mesh, " + names);
    }
    List<ProcessGroup> own = IntStream.of(dimensions).mapToObj(groups::get).toList();
    return new DeviceMesh(owner, layout.slice(dimensions), wanted, own, false);
  }

  /**
   * Returns a mesh of one dimension with the ranks of this one, in their order, and makes a group
   * of them. With a name that was used for the same ranks before, it returns that mesh, and does
   * not block. {@link #slice} and {@link #group(String)} find it by its name, on this mesh and on
   * all that were made with it.
   *
   * @throws IllegalArgumentException on all ranks, if the name is empty or names something else, or
   *     ranks give different ones
   * @throws IllegalStateException where this rank is not in the mesh
   */
  public DeviceMesh flatten(String name) {
    requireMember();
    DeviceMesh before = owner.flattened(name);
    if (before != null && before.sameRanks(this)) {
      return before;
    }
    List<String> named = Arrays.asList(name);
    MeshArguments arguments = new MeshArguments(owner.members(), "flatten of a mesh");
    arguments.agree(
        () -> {
          arguments.names(named, 1);
          arguments.require(
              !owner.isTaken(name), () -> "the name \"" + name + "\" is in use; choose another");
          return "to flatten " + describe(layout) + " as " + name;
        });
    MeshLayout flat = layout.reshape(layout.size());
    DeviceMesh mesh =
        new DeviceMesh(owner, flat, named, owner.ofDimensions(flat, named, 0, 1), false);
    owner.keep(name, mesh);
    return mesh;
  }

  /**
   * Returns a mesh with several dimensions in place of one, and makes their groups. The ranks and
   * the other dimensions stay as they are.
   *
   * @param name the dimension
   * @param sizes the extents of the new dimensions, the last of which has neighbours; their product
   *     is the extent of the old one
   * @param newNames one for each
   * @throws IllegalArgumentException on all ranks, if sizes or names do not fit, a name is in use,
   *     or ranks give different ones
   * @throws IllegalStateException where this rank is not in the mesh
   */
  public DeviceMesh unflatten(String name, int[] sizes, String... newNames) {
    requireMember();
    int split = names.indexOf(name);
    MeshArguments arguments = new MeshArguments(owner.members(), "unflatten of a mesh");
    arguments.agree(
        () -> {
          dimension(name);
          int extent = layout.shape()[split];
          arguments.shape(sizes, extent, "the extent of \"" + name + "\", " + extent);
          List<String> given = Arrays.asList(newNames);
          arguments.require(!given.isEmpty(), () -> "give a name for each new dimension");
          arguments.names(given, sizes.length);
          for (String each : given) {
            arguments.require(
                !owner.isTaken(each), () -> "the name \"" + each + "\" is in use; choose another");
          }
          return "to unflatten "
              + name
              + " of "
              + describe(layout)
              + " to "
              + Arrays.toString(sizes)
              + given;
        });
    int[] chosen = sizes.clone();
    List<String> added = Arrays.asList(newNames.clone());
    List<Integer> shape = new ArrayList<>(IntStream.of(layout.shape()).boxed().toList());
    shape.remove(split);
    shape.addAll(split, IntStream.of(chosen).boxed().toList());
    MeshLayout finer = layout.reshape(shape.stream().mapToInt(Integer::intValue).toArray());
    List<String> named = new ArrayList<>(names);
    named.remove(split);
    named.addAll(split, added);
    List<ProcessGroup> own = new ArrayList<>(groups);
    own.remove(split);
    own.addAll(split, owner.ofDimensions(finer, named, split, split + chosen.length));
    return new DeviceMesh(owner, finer, List.copyOf(named), own, false);
  }

  /**
   * Ends the groups that the mesh made, on every rank; all pending and future operations in them
   * throw. The group from which it was made goes on. Does not block.
   *
   * @throws IllegalStateException on what another method of a mesh returned
   */
  public void abort(Throwable cause) {
    if (!root) {
      throw new IllegalStateException(
          "Rank " + rank + ": only the whole mesh can be aborted, not " + this + ", a view of it");
    }
    owner.abort(cause);
  }

  /**
   * Closes the groups that this mesh made, and those of its views; see {@link ProcessGroup#close}.
   * Does nothing on a view. Idempotent.
   */
  @Override
  public void close() {
    if (root) {
      owner.close();
    }
  }

  @Override
  public String toString() {
    return "DeviceMesh(" + Arrays.toString(layout.shape()) + (names.isEmpty() ? "" : names) + ")";
  }

  private boolean sameRanks(DeviceMesh other) {
    return Arrays.equals(ranks(), other.ranks());
  }

  private static String describe(MeshLayout layout) {
    return "the ranks " + layout.blocks().stream().map(Arrays::toString).toList();
  }

  private void requireMember() {
    if (layout.block(rank) == null) {
      throw new IllegalStateException(
          "Rank "
              + rank
              + " is not in the mesh of the ranks "
              + Arrays.toString(layout.blocks().get(0))
              + ": it has no coordinate, group or slice there");
    }
  }

  private int existing(int dimension) {
    if (dimension < 0 || dimension >= groups.size()) {
      throw new IllegalArgumentException(
          "Rank " + rank + ": " + this + " has no dimension " + dimension + "; they count from 0");
    }
    return dimension;
  }

  private int dimension(String name) {
    int found = names.indexOf(name);
    if (found < 0) {
      throw new IllegalArgumentException(
          "Rank " + rank + ": " + this + " has no dimension \"" + name + "\", only " + names);
    }
    return found;
  }
}
