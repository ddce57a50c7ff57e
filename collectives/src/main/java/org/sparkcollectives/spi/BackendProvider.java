package org.sparkcollectives.spi;

import java.util.List;
import java.util.Set;
import org.sparkcollectives.Device;
import org.sparkcollectives.config.ConfigEntry;

/**
 * Makes the backends of one name, one for each group that asks for it. Found by {@link
 * java.util.ServiceLoader}, or registered by {@link BackendRegistry#register}.
 */
public interface BackendProvider {

  /** Returns the name under which users ask for it: lower-case letters, digits, dashes. */
  String name();

  /** Returns the kinds of device that it works on. */
  Set<Device.Type> deviceTypes();

  /**
   * Returns whether this process has what its backends need, such as a driver and native libraries,
   * which it may load to find out.
   */
  default boolean isAvailable() {
    return true;
  }

  /**
   * Returns whether its backends need the other ranks of a group to exist. If none of a group's
   * backends do, the group does not wait for its ranks when it is made.
   */
  default boolean needsPeers() {
    return true;
  }

  /** Returns the settings that its backends alone read; others are warned of as unknown. */
  default List<ConfigEntry<?>> settings() {
    return List.of();
  }

  /**
   * Makes a group's backend on this rank. All ranks of the group call it; it may block until they
   * all have, within the group's timeout.
   */
  Backend create(BackendContext group);
}
