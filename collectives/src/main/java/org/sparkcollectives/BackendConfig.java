package org.sparkcollectives;

import java.util.Collections;
import java.util.EnumMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Collectors;
import org.sparkcollectives.config.NearestName;

/**
 * The backend that a group uses for each kind of device: c10d's {@code BackendConfig}.
 *
 * <p>Written as one name, for all devices that the backend works on, or as a list such as {@code
 * "cpu:netty,cuda:nccl"}. Case does not matter.
 */
public final class BackendConfig {

  /** The backend for host memory: heap, shared memory, TCP over Netty. */
  public static final String NETTY = "netty";

  private static final BackendConfig NONE = new BackendConfig("", Map.of());

  private final String everywhere;
  private final Map<Device.Type, String> byDevice;

  private BackendConfig(String everywhere, Map<Device.Type, String> byDevice) {
    this.everywhere = everywhere;
    this.byDevice = byDevice;
  }

  /**
   * Reads {@code text}; the empty text names no backend.
   *
   * @throws IllegalArgumentException if it is malformed or names a device twice
   */
  public static BackendConfig parse(String text) {
    String lower = text.toLowerCase(Locale.ROOT);
    if (lower.isEmpty()) {
      return NONE;
    }
    if (lower.indexOf(':') < 0 && lower.indexOf(',') < 0) {
      return new BackendConfig(name(text, lower), Map.of());
    }
    Map<Device.Type, String> byDevice = new EnumMap<>(Device.Type.class);
    for (String pair : lower.split(",", -1)) {
      String[] parts = pair.split(":", -1);
      if (parts.length != 2) {
        throw malformed(text, "\"" + pair + "\" is not a pair of a device and a backend");
      }
      Device.Type type = device(text, parts[0]);
      if (byDevice.put(type, name(text, parts[1])) != null) {
        throw malformed(text, "the device " + parts[0] + " is named twice");
      }
    }
    return new BackendConfig("", Collections.unmodifiableMap(byDevice));
  }

  private static Device.Type device(String text, String name) {
    for (Device.Type type : Device.Type.values()) {
      if (type.name().toLowerCase(Locale.ROOT).equals(name)) {
        return type;
      }
    }
    List<String> devices = List.of("cpu", "cuda");
    throw malformed(
        text,
        "there is no device \"" + name + "\", only cpu and cuda",
        NearestName.question(name, devices));
  }

  private static String name(String text, String name) {
    if (!name.matches("[a-z][a-z0-9_-]*")) {
      throw malformed(text, "\"" + name + "\" is not a name of a backend");
    }
    return name;
  }

  private static IllegalArgumentException malformed(String text, String what) {
    return malformed(text, what, "");
  }

  private static IllegalArgumentException malformed(String text, String what, String question) {
    return new IllegalArgumentException(
        "Invalid backend \""
            + text
            + "\": "
            + what
            + (question.isEmpty() ? "." : question)
            + " Write one name, such as netty, or one for each device, such as"
            + " cpu:netty,cuda:nccl");
  }

  /** Returns the one backend for all devices that it works on, or an empty string. */
  public String everywhere() {
    return everywhere;
  }

  /**
   * Returns the backend of each device that is named; empty where one backend is for all.
   * Unmodifiable.
   */
  public Map<Device.Type, String> byDevice() {
    return byDevice;
  }

  /** Returns the text that {@link #parse} reads. */
  @Override
  public String toString() {
    return byDevice.isEmpty()
        ? everywhere
        : byDevice.entrySet().stream()
            .map(each -> each.getKey().name().toLowerCase(Locale.ROOT) + ":" + each.getValue())
            .collect(Collectors.joining(","));
  }
}
