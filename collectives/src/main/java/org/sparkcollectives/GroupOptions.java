package org.sparkcollectives;

import java.io.Serializable;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import org.sparkcollectives.config.NearestName;

/**
 * The options with which a group is made. Immutable; each {@code with} method returns a changed
 * copy. Serializable, so that functions that Spark sends to its executors can carry one.
 *
 * <p>No getter returns null: an option that was not chosen is an empty {@link Optional}, an empty
 * text or an empty list. It is then as in the group that the new one is made from, or as configured
 * for a rank's first group.
 */
public final class GroupOptions implements Serializable {

  private static final long serialVersionUID = 1;

  /** The longest that an operation may be allowed to take: 10,000 days. */
  public static final Duration LONGEST_TIMEOUT = Duration.ofDays(10_000);

  private static final List<String> TRANSPORTS = List.of("heap", "shm", "tcp");
  private static final GroupOptions DEFAULTS = new GroupOptions(new Choices());

  /**
   * The chosen options; a copy is changed once, before any other thread sees it. Holds arrays,
   * because Kryo 4 cannot read back the lists of {@link List#of}.
   */
  private static final class Choices implements Cloneable, Serializable {
    private static final long serialVersionUID = 1;

    private String name = "";
    private String description = "";
    private Duration timeout;
    private String[] transports = {};
    private String backend = "";
    private String[] algorithms = {};
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

  /** Returns options that leave everything as configured. */
  public static GroupOptions defaults() {
    return DEFAULTS;
  }

  /**
   * Returns these options with the group's name, which all ranks give alike and which must never be
   * used again; 2,000 bytes in UTF-8 at the most. A group made from another has this at the end of
   * its name, after that one's name and a number.
   */
  public GroupOptions withName(String value) {
    Objects.requireNonNull(value, "name");
    return with(copy -> copy.name = value);
  }

  /** Returns these options with what the group is for, shown in diagnosis. */
  public GroupOptions withDescription(String value) {
    Objects.requireNonNull(value, "description");
    return with(copy -> copy.description = value);
  }

  /**
   * Returns these options with the time that an operation may take, and the making of the group:
   * more than zero, and {@link #LONGEST_TIMEOUT} at the most. A wait of the group in its store is
   * bounded by the smaller one of this and the store's own timeout: see "Which timeout bounds what"
   * in {@code docs/guide/failures-and-checkpoints.md}.
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
   * Returns these options with the paths that may be used, of {@code "heap"} within a JVM, {@code
   * "shm"} within a host and {@code "tcp"}; all ranks give the same.
   */
  public GroupOptions withTransports(String... values) {
    String[] chosen = values.clone();
    for (String transport : chosen) {
      if (!TRANSPORTS.contains(transport)) {
        throw new IllegalArgumentException(
            "Unknown transport \""
                + transport
                + "\"; there are "
                + TRANSPORTS
                + NearestName.question(transport, TRANSPORTS));
      }
    }
    if (chosen.length == 0) {
      throw new IllegalArgumentException("A group needs at least one transport");
    }
    return with(copy -> copy.transports = chosen);
  }

  /**
   * Returns these options with the backend that carries out the operations: a name, or one for each
   * kind of device as in {@code "cpu:netty,cuda:fake"}; all ranks give the same. See {@link
   * org.sparkcollectives.spi.BackendRegistry}.
   *
   * @throws IllegalArgumentException if it is malformed
   */
  public GroupOptions withBackend(String value) {
    BackendConfig.parse(value);
    return with(copy -> copy.backend = value);
  }

  /**
   * Returns these options with algorithms by name, as docs/internals/algorithms.md lists them, such
   * as {@code "RingAllReduce"}; at most one for each operation, and all ranks give the same. They
   * carry out the group's collectives in host memory whatever they cost; other operations run the
   * algorithm that is predicted to be the fastest, and with {@code "auto"} alone all do. A call
   * that an algorithm cannot carry out is refused, with the names of those that can.
   *
   * <p>To run one call by another algorithm, make a group for it.
   */
  public GroupOptions withAlgorithms(String... names) {
    String[] chosen = names.clone();
    if (chosen.length == 0) {
      throw new IllegalArgumentException("Name an algorithm, or auto");
    }
    return with(copy -> copy.algorithms = chosen);
  }

  /** Returns these options with the extent of the checks; all ranks give the same. */
  public GroupOptions withDebugLevel(DebugLevel value) {
    Objects.requireNonNull(value, "debug level");
    return with(copy -> copy.debugLevel = value);
  }

  /**
   * Returns these options with or without the NaN check: an operation then refuses to begin if its
   * input contains a NaN, as c10d's NaN check does. The inputs of a collective are checked, those
   * of the root only for a broadcast or scatter, and what is sent. Costs a pass over the input.
   * Applies to this rank only: others may choose otherwise.
   */
  public GroupOptions withNanCheck(boolean value) {
    return with(copy -> copy.nanCheck = value);
  }

  /**
   * Returns these options with what follows when an operation fails or is overdue. Applies to this
   * rank only: others may choose otherwise, but what ranks then learn of each other depends on each
   * one's choice.
   */
  public GroupOptions withErrorHandling(ErrorHandling value) {
    Objects.requireNonNull(value, "error handling");
    return with(copy -> copy.errorHandling = value);
  }

  /**
   * Returns these options with the members of a group that is made from another, as global ranks.
   * Their order is that of the new group's ranks. None means all, in their order.
   */
  public GroupOptions withRanks(int... globalRanks) {
    int[] chosen = globalRanks.clone();
    return with(copy -> copy.ranks = chosen);
  }

  /**
   * Returns these options with whether only the members of a group that is made from another call
   * for it, as with c10d's {@code use_local_synchronization}; else all ranks of the other group do.
   */
  public GroupOptions withLocalSynchronization(boolean value) {
    return with(copy -> copy.localSynchronization = value);
  }

  /** Returns the name, see {@link #withName}; empty for a default name. */
  public String name() {
    return choices.name;
  }

  /** Returns the description, see {@link #withDescription}. */
  public String description() {
    return choices.description;
  }

  /** Returns the timeout, see {@link #withTimeout}. */
  public Optional<Duration> timeout() {
    return Optional.ofNullable(choices.timeout);
  }

  /** Returns the paths that may be used, see {@link #withTransports}. */
  public List<String> transports() {
    return List.of(choices.transports);
  }

  /** Returns the backend, see {@link #withBackend}. */
  public Optional<String> backend() {
    return choices.backend.isEmpty() ? Optional.empty() : Optional.of(choices.backend);
  }

  /** Returns the algorithms by name, see {@link #withAlgorithms}. */
  public List<String> algorithms() {
    return List.of(choices.algorithms);
  }

  /** Returns the extent of the checks, see {@link #withDebugLevel}. */
  public Optional<DebugLevel> debugLevel() {
    return Optional.ofNullable(choices.debugLevel);
  }

  /** Returns whether inputs are checked for NaNs, see {@link #withNanCheck}. */
  public Optional<Boolean> nanCheck() {
    return Optional.ofNullable(choices.nanCheck);
  }

  /** Returns what follows from a failed operation, see {@link #withErrorHandling}. */
  public Optional<ErrorHandling> errorHandling() {
    return Optional.ofNullable(choices.errorHandling);
  }

  /** Returns the members as global ranks, see {@link #withRanks}; empty for all. */
  public int[] ranks() {
    return choices.ranks.clone();
  }

  /** Returns whether only the members call, see {@link #withLocalSynchronization}. */
  public boolean localSynchronization() {
    return choices.localSynchronization;
  }
}
