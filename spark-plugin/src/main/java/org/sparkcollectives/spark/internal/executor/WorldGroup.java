package org.sparkcollectives.spark.internal.executor;

import java.time.Duration;
import org.apache.spark.BarrierTaskContext;
import org.apache.spark.SparkEnv;
import org.apache.spark.TaskContext;
import org.apache.spark.util.TaskCompletionListener;
import org.sparkcollectives.ErrorHandling;
import org.sparkcollectives.Failure;
import org.sparkcollectives.GroupOptions;
import org.sparkcollectives.ProcessGroup;
import org.sparkcollectives.ReconfigurableGroup;
import org.sparkcollectives.config.Configuration;
import org.sparkcollectives.spark.config.SparkSettings;
import org.sparkcollectives.spark.internal.protocol.JoinRequest;
import org.sparkcollectives.spark.internal.protocol.RunKeys;
import org.sparkcollectives.spark.internal.protocol.RunRequest;
import org.sparkcollectives.spark.internal.protocol.StageAttempt;
import org.sparkcollectives.spi.HostedGroups;
import org.sparkcollectives.spi.RankTuning;
import org.sparkcollectives.spi.failure.RankIdentity;
import org.sparkcollectives.store.HashStore;
import org.sparkcollectives.store.Store;
import org.sparkcollectives.store.StoreConfiguration;

/** Creates the groups of tasks. */
final class WorldGroup {

  private WorldGroup() {}

  /**
   * Joins as the task's rank. Blocks until all tasks have joined.
   *
   * @param call the call of {@code BarrierStage} that the task belongs to, or an empty text
   */
  static ProcessGroup join(
      BarrierTaskContext task,
      SparkEnv env,
      Configuration settings,
      RankTuning tuning,
      GroupOptions options,
      String call) {
    StageAttempt stage = new StageAttempt(task.stageId(), task.stageAttemptNumber());
    Duration timeout = settings.get(StoreConfiguration.TIMEOUT);
    int size = task.getTaskInfos().length;
    GroupOptions named = options.name().isEmpty() ? options.withName(name(task, env)) : options;
    JoinRequest request = new JoinRequest(stage, call, named.name(), ifLost(task, env, named));
    DriverStoreClient store = DriverStoreClient.connect(env, request, timeout);
    TaskRank rank = new TaskRank(task, env, settings, tuning, store);
    // Spark calls the last listener that was added first: when this one is called, the group is
    // closed.
    TaskCompletionListener onEnd = ended -> rank.taskCompleted();
    task.addTaskCompletionListener(onEnd);
    if (store != null) {
      if (!call.isEmpty()) {
        task.addTaskFailureListener(new ThrownReport(store.link(), call));
      }
      return create(store, task, size, named, rank, store::close);
    }
    ExecutorHostedStore hosted =
        ExecutorHostedStore.meet(task, rank.bindHost(), rank.security(), timeout);
    return create(hosted.store(), task, size, named, rank, () -> hosted.close(task));
  }

  /**
   * Returns the task's rank of a group whose members are chosen later. Blocks for a round trip.
   *
   * @param call the call of {@code BarrierStage} that the task belongs to, or an empty text
   * @param number counts the task's groups of this kind from 1
   * @throws IllegalStateException if the driver has no store
   */
  static ReconfigurableGroup reconfigurable(
      BarrierTaskContext task,
      SparkEnv env,
      Configuration settings,
      RankTuning tuning,
      GroupOptions options,
      String call,
      int number) {
    StageAttempt stage = new StageAttempt(task.stageId(), task.stageAttemptNumber());
    String name = env.conf().getAppId() + "/" + stage + "/reconfigurable";
    GroupOptions named =
        options.name().isEmpty()
            ? options.withName(number == 1 ? name : name + "-" + number)
            : options;
    JoinRequest request = new JoinRequest(stage, call, "", ifLost(task, env, named));
    DriverStoreClient store =
        DriverStoreClient.connect(env, request, settings.get(StoreConfiguration.TIMEOUT));
    if (store == null) {
      throw new IllegalStateException(
          "Task "
              + task.taskAttemptId()
              + " cannot make a reconfigurable group: the driver has no store for collectives, and"
              + " what rank 0's executor serves goes with that rank. "
              + DriverStoreClient.INSTALL);
    }
    TaskRank rank = new TaskRank(task, env, settings, tuning, store);
    TaskCompletionListener onEnd = ended -> rank.taskCompleted();
    task.addTaskCompletionListener(onEnd);
    return reconfigurable(store, task.partitionId(), task.getTaskInfos().length, named, rank);
  }

  /**
   * Returns the group of a rank of a replica and the same rank of others, whose members are chosen
   * later. A failed group must not end its task, whatever the settings say. Does not block.
   *
   * @param task if it is one of a barrier stage, the stage's tasks are the ranks of the replica
   * @param replicas how many replicas there may be
   * @param store of the run, closed with the group
   */
  static ReconfigurableGroup ofReplica(
      TaskContext task, SparkEnv env, RunRequest request, int replicas, DriverStoreClient store) {
    int replicaSize = task instanceof BarrierTaskContext all ? all.getTaskInfos().length : 1;
    String name =
        RunKeys.replicas(
            RunKeys.replicas(env.conf().getAppId(), request.run()), request.rank(), replicaSize);
    GroupOptions options =
        GroupOptions.defaults().withName(name).withErrorHandling(ErrorHandling.CLEAN_UP_ONLY);
    TaskRank rank =
        new TaskRank(task, env, SparkSettings.of(env.conf()), RankTuning.DEFAULT, store);
    return reconfigurable(store, request.replica(), replicas, options, rank);
  }

  /** Returns a group of a replica's only rank. Blocks for no other rank. */
  static ProcessGroup alone(
      TaskContext task, SparkEnv env, RunRequest request, DriverStoreClient store) {
    String name =
        RunKeys.replicas(env.conf().getAppId(), request.run()) + "/replica-" + request.replica();
    TaskRank rank =
        new TaskRank(task, env, SparkSettings.of(env.conf()), RankTuning.DEFAULT, store);
    Store own = new HashStore();
    GroupOptions options = GroupOptions.defaults().withName(name);
    return HostedGroups.create(own, 0, 1, options, rank, own::close);
  }

  private static ReconfigurableGroup reconfigurable(
      DriverStoreClient store, int rank, int size, GroupOptions options, TaskRank host) {
    boolean created = false;
    try {
      ReconfigurableGroup group =
          HostedGroups.reconfigurable(store, rank, size, options, host, store::close);
      created = true;
      return group;
    } finally {
      if (!created) {
        store.close();
      }
    }
  }

  /** Returns the name of the world group that the tasks of a stage's attempt join first. */
  static String name(BarrierTaskContext task, SparkEnv env) {
    StageAttempt stage = new StageAttempt(task.stageId(), task.stageAttemptNumber());
    return env.conf().getAppId() + "/" + stage + "/world";
  }

  private static Failure ifLost(BarrierTaskContext task, SparkEnv env, GroupOptions options) {
    return new RankIdentity(
            options.name(),
            task.partitionId(),
            env.blockManager().blockManagerId().host(),
            env.executorId(),
            task.taskAttemptId())
        .lost();
  }

  private static ProcessGroup create(
      Store store,
      BarrierTaskContext task,
      int size,
      GroupOptions options,
      TaskRank rank,
      Runnable afterClose) {
    boolean created = false;
    try {
      ProcessGroup world =
          HostedGroups.create(store, task.partitionId(), size, options, rank, afterClose);
      created = true;
      return world;
    } finally {
      if (!created) {
        afterClose.run();
      }
    }
  }
}
