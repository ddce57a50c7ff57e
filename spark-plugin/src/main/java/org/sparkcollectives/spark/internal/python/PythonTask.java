package org.sparkcollectives.spark.internal.python;

import org.sparkcollectives.GroupOptions;
import org.sparkcollectives.ProcessGroup;
import org.sparkcollectives.ReconfigurableGroup;
import org.sparkcollectives.spark.internal.elastic.QuorumReplica;

/** A task attempt whose Python workers may use the bridge. Thread-safe. */
interface PythonTask {

  /** Returns the number of the task attempt, unique in the application. */
  long attempt();

  /** Returns the rank of the task. */
  int rank();

  /**
   * Joins a world group, once those before are closed. Blocks until all tasks of the stage have
   * called it. Called on a thread of the bridge.
   *
   * @param number counts the task's world groups from 1
   */
  ProcessGroup join(GroupOptions options, int number);

  /**
   * Makes a group whose members are chosen later. Blocks for a round trip to the driver. Called on
   * a thread of the bridge.
   *
   * @param number counts the task's reconfigurable groups from 1
   */
  ReconfigurableGroup reconfigurable(GroupOptions options, int number);

  /**
   * Begins the replica of an elastic stage whose task this is. Blocks for a round trip to the
   * driver. Called on a thread of the bridge.
   *
   * @param run identifies the run
   * @param checkpointInterval after how many steps a checkpoint is kept; 0 for none
   */
  QuorumReplica replica(String run, int checkpointInterval);

  /**
   * Passes a report of this task's worker to the driver, see {@link RankReports}. Called on a
   * thread of the bridge.
   *
   * @param message as {@link RankReports#receive} takes it
   * @param await whether to block until the driver has received it, and all before it
   */
  void report(byte[] message, boolean await);
}
