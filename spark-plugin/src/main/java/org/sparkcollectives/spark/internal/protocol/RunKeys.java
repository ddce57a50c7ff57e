package org.sparkcollectives.spark.internal.protocol;

import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** The keys of a run: what replicas and driver leave there for each other. */
public final class RunKeys {

  /** The prefix of the keys of all checkpoints. */
  public static final String CHECKPOINTS = "checkpoint/";

  private static final Pattern CHECKPOINT =
      Pattern.compile(CHECKPOINTS + "(\\d+)\\.(\\d+)/complete");

  private RunKeys() {}

  /** Returns the prefix of all keys of a run in the driver's store. */
  public static String prefix(String run) {
    return "run-" + run + "/";
  }

  /** Returns the name of the group of the replicas of a run. */
  public static String replicas(String application, String run) {
    return application + "/run-" + run;
  }

  /**
   * Returns the name of the group of one rank of each replica.
   *
   * @param replicas the name of {@link #replicas}
   * @param replicaSize how many ranks a replica has
   */
  public static String replicas(String replicas, int rank, int replicaSize) {
    return replicaSize == 1 ? replicas : replicas + "/rank-" + rank;
  }

  /** Returns the key that is there once a replica waits for a quorum after {@code quorum}. */
  public static String pending(long quorum) {
    return "pending/" + quorum;
  }

  /** Returns the name of the group of a quorum, as a reconfigurable group names it. */
  public static String group(String replicas, long quorum) {
    return replicas + "/reconfigured-" + quorum;
  }

  /** Returns the prefix of the keys of a checkpoint. */
  public static String checkpoint(StateVersion version) {
    return CHECKPOINTS + version.quorum() + "." + version.step() + "/";
  }

  /** Returns the prefix of the keys of a checkpoint's part that is of one rank. */
  public static String checkpoint(StateVersion version, int rank) {
    return checkpoint(version) + rank + ".";
  }

  /** Returns the key that is there once a checkpoint is complete. */
  public static String complete(StateVersion version) {
    return checkpoint(version) + "complete";
  }

  /** Returns the version of the checkpoint whose {@link #complete} key this is, if it is one. */
  public static Optional<StateVersion> checkpoint(String key) {
    Matcher parts = CHECKPOINT.matcher(key);
    return parts.matches()
        ? Optional.of(
            new StateVersion(Long.parseLong(parts.group(1)), Long.parseLong(parts.group(2))))
        : Optional.empty();
  }
}
