package org.sparkcollectives;

import java.time.Duration;
import java.util.List;
import java.util.Objects;

/** How a group is made. Immutable; each {@code with} method returns another. */
public final class GroupOptions {

  private static final GroupOptions DEFAULTS = new GroupOptions("", "", null, List.of());

  private final String name;
  private final String description;
  private final Duration timeout;
  private final List<String> transports;

  private GroupOptions(String name, String description, Duration timeout, List<String> transports) {
    this.name = name;
    this.description = description;
    this.timeout = timeout;
    this.transports = transports;
  }

  /** Everything as configured. */
  public static GroupOptions defaults() {
    return DEFAULTS;
  }

  /** With the group's name, which all ranks give alike and which is never used again. */
  public GroupOptions withName(String value) {
    return new GroupOptions(
        Objects.requireNonNull(value, "name"), description, timeout, transports);
  }

  /** With what the group is for, shown in diagnosis. */
  public GroupOptions withDescription(String value) {
    return new GroupOptions(
        name, Objects.requireNonNull(value, "description"), timeout, transports);
  }

  /** With how long an operation may take; more than zero. */
  public GroupOptions withTimeout(Duration value) {
    if (value.isNegative() || value.isZero()) {
      throw new IllegalArgumentException("The timeout must be more than zero, not " + value);
    }
    return new GroupOptions(name, description, value, transports);
  }

  /**
   * With the paths that may be used, of {@code "heap"} and {@code "tcp"}; all ranks give the same.
   */
  public GroupOptions withTransports(String... values) {
    List<String> chosen = List.of(values);
    for (String transport : chosen) {
      if (!List.of("heap", "tcp").contains(transport)) {
        throw new IllegalArgumentException(
            "Unknown transport \"" + transport + "\"; there are \"heap\" and \"tcp\"");
      }
    }
    if (chosen.isEmpty()) {
      throw new IllegalArgumentException("A group needs at least one transport");
    }
    return new GroupOptions(name, description, timeout, chosen);
  }

  /** See {@link #withName}; empty for a name by default. */
  public String name() {
    return name;
  }

  /** See {@link #withDescription}. */
  public String description() {
    return description;
  }

  /** See {@link #withTimeout}; null for {@code spark.collectives.timeout}. */
  public Duration timeout() {
    return timeout;
  }

  /** See {@link #withTransports}; empty for {@code spark.collectives.transports}. */
  public List<String> transports() {
    return transports;
  }
}
