package org.sparkcollectives;

import java.util.Set;

/**
 * Makes the backends of one name, one for each group that asks for it. Found by {@link
 * java.util.ServiceLoader}, or told to {@link BackendRegistry#register}.
 */
public interface BackendProvider {

  /** The name under which users ask for it: lower-case letters, digits, dashes. */
  String name();

  /** The kinds of device that it works on. */
  Set<Device.Type> deviceTypes();

  /**
   * Returns whether this process has what its backends need, such as a driver and native libraries,
   * which it may load to find out.
   */
  default boolean isAvailable() {
    return true;
  }

  /**
   * Whether the other ranks of a group exist. If those of all its backends do not, a group does not
   * wait for its ranks when it is made.
   */
  default boolean needsPeers() {
    return true;
  }

  /**
   * Makes a group's backend on this rank. All ranks of the group do so; may block until they have,
   * within the group's timeout.
   */
  Backend create(BackendContext group);
}
