package org.sparkcollectives.mesh;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.sparkcollectives.GroupOptions;
import org.sparkcollectives.ProcessGroup;

/**
 * The groups that a mesh and its views have made on this rank, and the meshes that were flattened,
 * by their names.
 */
final class MeshGroups implements AutoCloseable {

  private final ProcessGroup members;
  private final Deque<ProcessGroup> made = new ArrayDeque<>();
  private final Set<String> taken = new HashSet<>();
  private final Map<String, DeviceMesh> flattened = new HashMap<>();

  /**
   * Creates an owner of groups.
   *
   * @param members the group of all ranks of the mesh, of which others are made
   */
  MeshGroups(ProcessGroup members) {
    this.members = members;
  }

  /** Returns the group of all ranks of the mesh. */
  ProcessGroup members() {
    return members;
  }

  /** Closes a group with the mesh. */
  synchronized ProcessGroup own(ProcessGroup group) {
    made.push(group);
    return group;
  }

  /**
   * Makes a group for each of some dimensions; those with a single rank share one.
   *
   * @param layout the mesh
   * @param names of all dimensions, or none
   * @param first the first of these dimensions
   * @param end the one after the last
   */
  List<ProcessGroup> ofDimensions(MeshLayout layout, List<String> names, int first, int end) {
    take(names);
    ProcessGroup alone = null;
    List<ProcessGroup> groups = new ArrayList<>();
    for (int dimension = first; dimension < end; dimension++) {
      if (layout.shape()[dimension] > 1) {
        groups.add(split(layout.slice(dimension), names.isEmpty() ? "" : names.get(dimension)));
      } else {
        alone = alone == null ? split(layout.slice(dimension), "") : alone;
        groups.add(alone);
      }
    }
    return groups;
  }

  private synchronized void take(List<String> names) {
    taken.addAll(names);
  }

  /** Returns whether a dimension or a flattened mesh has this name. */
  synchronized boolean isTaken(String name) {
    return taken.contains(name);
  }

  /** Makes a group for each block of a layout, and returns this rank's. */
  private ProcessGroup split(MeshLayout layout, String name) {
    GroupOptions options = GroupOptions.defaults().withName(name);
    return own(members.newSubgroups(layout.blocks(), options));
  }

  /** Returns the mesh that was flattened under a name; null if there is none. */
  synchronized DeviceMesh flattened(String name) {
    return flattened.get(name);
  }

  /** Remembers a mesh under its name. */
  synchronized void keep(String name, DeviceMesh mesh) {
    flattened.put(name, mesh);
  }

  /** Ends all groups on every rank. */
  synchronized void abort(Throwable cause) {
    made.forEach(group -> group.abort(cause));
  }

  /** Closes all groups, the last first. */
  @Override
  public void close() {
    List<ProcessGroup> all;
    synchronized (this) {
      all = List.copyOf(made);
      made.clear();
    }
    all.forEach(ProcessGroup::close);
  }
}
