package org.sparkcollectives;

import java.io.Serializable;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.Optional;

/**
 * How a group is made. Immutable; each {@code with} method returns another. Serializable, so that
 * functions that Spark sends to its executors can carry one.
 *
 * <p>No getter returns null: an option that is left open is an empty {@link Optional}, an empty
 * text or an empty list. It is then as in the group that the new one is made from, and as
 * configured for a rank's first group.
 */
public final class GroupOptions implements Serializable {

  private static final long serialVersionUID = 1;

  /** The longest that an operation may be allowed to take: 10,000 days. */
  public static final Duration LONGEST_TIMEOUT = Duration.ofDays(10_000);

  private static final List<String> TRANSPORTS = List.of("heap", "shm", "tcp");
  private static final GroupOptions DEFAULTS = new GroupOptions(new Choices());

  /**
   * What has been chosen; a copy is changed once, before anybody else sees it. Arrays, because Kryo
   * 4 cannot read the lists of {@link List#of} back.
   */
  private static final class Choices implements Cloneable, Serializable {
    private static final long serialVersionUID = 1;

    private String name = "";
    private String description = "";
    private Duration timeout;
    private String[] transports = {};
    private String backend = "";
    private DebugLevel debugLevel;
    private Boolean nanCheck;
    private ErrorHandling errorHandling;
    private int[] ranks = {};
    private boolean localSynchronization;

    Choices copy() {
      try {
        return (Choices) clone();
      } catch (CloneNotSupportedException e) {
        throw new AssertionError(e);
      }
    }
  }

  private final Choices choices;

  private GroupOptions(Choices choices) {
    this.choices = choices;
  }

  private interface Change {
    void make(Choices choices);
  }

  private GroupOptions with(Change change) {
    Choices copy = choices.copy();
    change.make(copy);
    return new GroupOptions(copy);
  }

  /** Everything as configured. */
  public static GroupOptions defaults() {
    return DEFAULTS;
  }

  /**
   * With the group's name, which all ranks give alike and which is never used again; 2,000 bytes in
   * UTF-8 at the most. A group made from another has this at the end of its name, after that one's
   * name and a number.
   */
  public GroupOptions withName(String value) {
    Objects.requireNonNull(value, "name");
    return with(copy -> copy.name = value);
  }

  /** With what the group is for, shown in diagnosis. */
  public GroupOptions withDescription(String value) {
    Objects.requireNonNull(value, "description");
    return with(copy -> copy.description = value);
  }

  /**
   * With how long an operation may take, and with how long the making of the group may: more than
   * zero, and {@link #LONGEST_TIMEOUT} at the most. Whatever the group waits for in its store is
   * bounded by the smaller one of this and the store's own timeout: see "Which timeout bounds what"
   * in {@code docs/reliability.md}.
   */
  public GroupOptions withTimeout(Duration value) {
    if (value.isNegative() || value.isZero() || value.compareTo(LONGEST_TIMEOUT) > 0) {
      throw new IllegalArgumentException(
          "The timeout must be more than zero and "
              + LONGEST_TIMEOUT.toDays()
              + " days at the most, not "
              + value);
    }
    return with(copy -> copy.timeout = value);
  }

  /**
   * With the paths that may be used, of {@code "heap"} within a JVM, {@code "shm"} within a host
   * and {@code "tcp"}; all ranks give the same.
   */
  public GroupOptions withTransports(String... values) {
    String[] chosen = values.clone();
    for (String transport : chosen) {
      if (!TRANSPORTS.contains(transport)) {
        throw new IllegalArgumentException(
            "Unknown transport \"" + transport + "\"; there are " + TRANSPORTS);
      }
    }
    if (chosen.length == 0) {
      throw new IllegalArgumentException("A group needs at least one transport");
    }
    return with(copy -> copy.transports = chosen);
  }

  /**
   * With what carries out the operations: the name of a backend, or one for each kind of device as
   * in {@code "cpu:netty,cuda:fake"}; all ranks give the same. See {@link BackendRegistry}.
   *
   * @throws IllegalArgumentException if it is malformed
   */
  public GroupOptions withBackend(String value) {
    BackendConfig.parse(value);
    return with(copy -> copy.backend = value);
  }

  /** With how much is checked; all ranks give the same. */
  public GroupOptions withDebugLevel(DebugLevel value) {
    Objects.requireNonNull(value, "debug level");
    return with(copy -> copy.debugLevel = value);
  }

  /**
   * With whether an operation refuses to begin with what is not a number, as c10d's NaN check does:
   * the inputs of a collective, of a broadcast or scatter those of the root, and what is sent.
   * Costs a pass over the input. It stays with this rank: others may choose otherwise.
   */
  public GroupOptions withNanCheck(boolean value) {
    return with(copy -> copy.nanCheck = value);
  }

  /**
   * With what follows when an operation fails or is overdue. It stays with this rank: others may
   * choose otherwise, but what they then learn of each other depends on each one's choice.
   */
  public GroupOptions withErrorHandling(ErrorHandling value) {
    Objects.requireNonNull(value, "error handling");
    return with(copy -> copy.errorHandling = value);
  }

  /**
   * With the members of a group that is made from another, as global ranks; their order is that of
   * the new group's ranks. None means all, in their order.
   */
  public GroupOptions withRanks(int... globalRanks) {
    int[] chosen = globalRanks.clone();
    return with(copy -> copy.ranks = chosen);
  }

  /**
   * With whether only the members of a group that is made from another call for it, as with c10d's
   * {@code use_local_synchronization}; else all ranks of the other group do.
   */
  public GroupOptions withLocalSynchronization(boolean value) {
    return with(copy -> copy.localSynchronization = value);
  }

  /** See {@link #withName}; empty for a name by default. */
  public String name() {
    return choices.name;
  }

  /** See {@link #withDescription}. */
  public String description() {
    return choices.description;
  }

  /** See {@link #withTimeout}. */
  public Optional<Duration> timeout() {
    return Optional.ofNullable(choices.timeout);
  }

  /** See {@link #withTransports}. */
  public List<String> transports() {
    return List.of(choices.transports);
  }

  /** See {@link #withBackend}. */
  public Optional<String> backend() {
    return choices.backend.isEmpty() ? Optional.empty() : Optional.of(choices.backend);
  }

  /** See {@link #withDebugLevel}. */
  public Optional<DebugLevel> debugLevel() {
    return Optional.ofNullable(choices.debugLevel);
  }

  /** See {@link #withNanCheck}. */
  public Optional<Boolean> nanCheck() {
    return Optional.ofNullable(choices.nanCheck);
  }

  /** See {@link #withErrorHandling}. */
  public Optional<ErrorHandling> errorHandling() {
    return Optional.ofNullable(choices.errorHandling);
  }

  /** See {@link #withRanks}; empty for all. */
  public int[] ranks() {
    return choices.ranks.clone();
  }

  /** See {@link #withLocalSynchronization}. */
  public boolean localSynchronization() {
    return choices.localSynchronization;
  }
}
