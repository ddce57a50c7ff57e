package org.sparkcollectives.spark.internal.executor;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.spark.BarrierTaskContext;
import org.apache.spark.SparkEnv;
import org.apache.spark.TaskContext;
import org.apache.spark.util.TaskCompletionListener;
import org.apache.spark.util.TaskFailureListener;
import org.sparkcollectives.GroupOptions;
import org.sparkcollectives.ProcessGroup;
import org.sparkcollectives.ReconfigurableGroup;
import org.sparkcollectives.config.Configuration;
import org.sparkcollectives.spark.internal.protocol.RunRequest;
import org.sparkcollectives.spi.RankTuning;

/** The groups of each task that runs in this JVM and has some. Thread-safe. */
public final class TaskWorlds {

  /** By task attempt. */
  private static final Map<Long, ProcessGroup> WORLDS = new ConcurrentHashMap<>();

  private static final Map<Numbered, ReconfigurableGroup> RECONFIGURABLE =
      new ConcurrentHashMap<>();

  /**
   * The call of {@code BarrierStage}, or an empty text, of each task whose failure aborts its
   * groups, by task attempt.
   */
  private static final Map<Long, String> CALLS = new ConcurrentHashMap<>();

  /** One of the reconfigurable groups of a task attempt, which are counted from 1. */
  private record Numbered(long attempt, int number) {}

  private TaskWorlds() {}

  /**
   * Returns the world group of a task. The first call for a task blocks until all tasks of its
   * stage have joined. The group is closed when the task ends, and aborted when it fails.
   *
   * @param settings of the group, if this call is the first
   * @param tuning of the rank, if this call is the first
   * @param options of the group, if this call is the first
   * @param call the call of {@code BarrierStage} that the task belongs to, or an empty text
   */
  public static ProcessGroup of(
      BarrierTaskContext task,
      Configuration settings,
      RankTuning tuning,
      GroupOptions options,
      String call) {
    ProcessGroup world = WORLDS.get(task.taskAttemptId());
    return world == null ? join(task, settings, tuning, options, call) : world;
  }

  /**
   * Joins a further world group of a task, which has closed those before. Blocks until all tasks of
   * the stage have joined it.
   *
   * @param number counts the task's world groups from 1; the same on all ranks, 2 or more
   */
  public static ProcessGroup another(
      BarrierTaskContext task,
      Configuration settings,
      RankTuning tuning,
      GroupOptions options,
      int number) {
    String name = WorldGroup.name(task, SparkEnv.get()) + "-" + number;
    return join(task, settings, tuning, options.withName(name), "");
  }

  private static ProcessGroup join(
      BarrierTaskContext task,
      Configuration settings,
      RankTuning tuning,
      GroupOptions options,
      String call) {
    abortIfItFails(task, call);
    ProcessGroup world = WorldGroup.join(task, SparkEnv.get(), settings, tuning, options, call);
    keep(task, task.taskAttemptId(), world, WORLDS);
    return world;
  }

  /**
   * Returns a reconfigurable group of a task. The first call for a number takes a round trip to the
   * driver, and waits for no other task. The group is closed when the task ends, and aborted when
   * it fails.
   *
   * @param settings of the group, if this call is the first
   * @param tuning of the rank, if this call is the first
   * @param options of the group, if this call is the first
   * @param number counts the task's reconfigurable groups from 1; those of one number meet
   */
  public static ReconfigurableGroup reconfigurable(
      BarrierTaskContext task,
      Configuration settings,
      RankTuning tuning,
      GroupOptions options,
      int number) {
    Numbered key = new Numbered(task.taskAttemptId(), number);
    ReconfigurableGroup there = RECONFIGURABLE.get(key);
    if (there != null) {
      return there;
    }
    abortIfItFails(task, "");
    String call = CALLS.get(task.taskAttemptId());
    ReconfigurableGroup group =
        WorldGroup.reconfigurable(task, SparkEnv.get(), settings, tuning, options, call, number);
    keep(task, key, group, RECONFIGURABLE);
    return group;
  }

  /**
   * Makes the reconfigurable group of a replica, whose task need not be a barrier task. Does not
   * block. The group and its store are closed when the task ends, and the group is aborted when it
   * fails.
   *
   * @param replicas how many replicas there may be
   * @param store the replica's client of its run, closed with the group or by this call if it
   *     throws
   */
  public static ReconfigurableGroup ofReplica(
      TaskContext task, RunRequest request, int replicas, DriverStoreClient store) {
    ExecutorStatistics.begin(task);
    abortIfItFails(task, "");
    ReconfigurableGroup group =
        WorldGroup.ofReplica(task, SparkEnv.get(), request, replicas, store);
    keep(task, new Numbered(task.taskAttemptId(), 1), group, RECONFIGURABLE);
    return group;
  }

  /**
   * Makes a group of a replica's only rank. Blocks for no other rank. It is closed when the task
   * ends.
   *
   * @param store the replica's client of its run
   */
  public static ProcessGroup alone(TaskContext task, RunRequest request, DriverStoreClient store) {
    ProcessGroup group = WorldGroup.alone(task, SparkEnv.get(), request, store);
    TaskCompletionListener onEnd = ended -> group.close();
    task.addTaskCompletionListener(onEnd);
    return group;
  }

  private static <K, G extends ProcessGroup> void keep(
      TaskContext task, K key, G group, Map<K, G> groups) {
    groups.put(key, group);
    TaskCompletionListener onEnd =
        ended -> {
          groups.remove(key);
          group.close();
        };
    task.addTaskCompletionListener(onEnd);
  }

  /**
   * Makes a failure of a task abort its groups, those that it has by then.
   *
   * @param call counts if this is the first call for the task: {@code BarrierStage} joins the world
   *     before the task's own code runs
   */
  private static void abortIfItFails(TaskContext task, String call) {
    if (CALLS.putIfAbsent(task.taskAttemptId(), call) != null) {
      return;
    }
    TaskCompletionListener forget = ended -> CALLS.remove(ended.taskAttemptId());
    task.addTaskCompletionListener(forget);
    // Spark calls this listener after those that are added later: the driver must have been sent
    // the exception before other ranks fail because of it, and Spark kills this task because of
    // them.
    TaskFailureListener abort =
        (failed, cause) -> {
          ProcessGroup world = WORLDS.get(failed.taskAttemptId());
          if (world != null) {
            world.abort(cause);
          }
          RECONFIGURABLE.forEach(
              (key, group) -> {
                if (key.attempt() == failed.taskAttemptId()) {
                  group.abort(cause);
                }
              });
        };
    task.addTaskFailureListener(abort);
  }
}
