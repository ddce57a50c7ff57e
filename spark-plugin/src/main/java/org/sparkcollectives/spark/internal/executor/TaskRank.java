package org.sparkcollectives.spark.internal.executor;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.apache.spark.SparkEnv;
import org.apache.spark.TaskContext;
import org.apache.spark.resource.ResourceInformation;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.sparkcollectives.CollectiveException;
import org.sparkcollectives.Failure;
import org.sparkcollectives.FlightDump;
import org.sparkcollectives.ProcessGroup;
import org.sparkcollectives.config.Configuration;
import org.sparkcollectives.net.TransportSecurity;
import org.sparkcollectives.object.ObjectCodec;
import org.sparkcollectives.spark.config.SparkPluginConfiguration;
import org.sparkcollectives.spark.internal.protocol.KillReason;
import org.sparkcollectives.spark.internal.protocol.StageAttempt;
import org.sparkcollectives.spark.internal.security.SparkSecurity;
import org.sparkcollectives.spi.RankContext;
import org.sparkcollectives.spi.RankTuning;
import org.sparkcollectives.store.Deadline;
import org.sparkcollectives.store.Store;
import scala.Option;

/** A task as the host of a rank. */
final class TaskRank implements RankContext {

  private static final Logger LOG = LoggerFactory.getLogger(TaskRank.class);

  /** Longer than the driver waits for a script, which may have to tell other racks before. */
  private static final Duration RACK_PATIENCE = Duration.ofSeconds(30);

  private static final long KILL_CHECK_MILLIS = 20;

  private static final String TOPOLOGY_MAPPER = "spark.storage.replication.topologyMapper";

  private final TaskContext task;
  private final SparkEnv env;
  private final Configuration configuration;
  private final RankTuning tuning;
  private final DriverStoreClient store;
  private final ObjectCodec objectCodec;
  private volatile CollectiveException tornDown;

  /**
   * Creates the host of a rank.
   *
   * @param configuration the settings of its groups
   * @param tuning what no setting says
   * @param store the driver's store, or null if the driver has none
   */
  TaskRank(
      TaskContext task,
      SparkEnv env,
      Configuration configuration,
      RankTuning tuning,
      DriverStoreClient store) {
    this.task = task;
    this.env = env;
    this.store = store;
    this.configuration = configuration;
    this.tuning = tuning;
    this.objectCodec = SparkKryo.codec(env.conf());
  }

  @Override
  public RankTuning tuning() {
    return tuning;
  }

  @Override
  public String executorId() {
    return env.executorId();
  }

  @Override
  public long taskAttemptId() {
    return task.taskAttemptId();
  }

  @Override
  public boolean isKilled() {
    return task.isInterrupted();
  }

  @Override
  public String killReason() {
    return task.getKillReason().getOrElse(() -> "no reason given");
  }

  @Override
  public boolean isStoppedWithOthers() {
    return isKilled() && KillReason.isEndOfStage(killReason());
  }

  @Override
  public void joined(String group, Failure ifLost) {
    if (store != null) {
      store.leaveWill(group, ifLost);
    }
  }

  @Override
  public void opened(ProcessGroup group) {
    StageAttempt stage = new StageAttempt(task.stageId(), task.stageAttemptNumber());
    DriverLink driver = store == null ? null : store.link();
    long attempt = task.taskAttemptId();
    ExecutorStatistics.of(env)
        .opened(driver, stage, attempt, group, ExecutorStatistics.accumulators(attempt));
  }

  @Override
  public void left(String group) {
    ExecutorStatistics.of(env).left(task.taskAttemptId(), group);
    if (store != null) {
      store.revokeWill(group);
    }
  }

  /**
   * Ends the task as {@link RankContext#tearDown} says: by the driver, or by the task's own end if
   * that comes first.
   */
  @Override
  public void tearDown(CollectiveException cause, Duration patience) {
    tornDown = cause;
    if (task.isFailed()) {
      // The job must end with the exception that the task has thrown, which is on its way to the
      // driver.
      return;
    }
    if (store == null) {
      LOG.warn(
          "Task {} goes on until its code ends, though its group has failed: without the driver's"
              + " store (SparkCollectives.install) nobody can be asked to kill it",
          task.taskAttemptId());
    } else {
      store.tearDown(cause.getMessage(), patience);
    }
  }

  /**
   * Handles the end of the task, whose groups are closed.
   *
   * @throws CollectiveException if the task succeeds, but one of its groups has failed with an
   *     error handling that tears down
   */
  void taskCompleted() {
    CollectiveException cause = tornDown;
    if (cause != null && !task.isFailed() && !isKilled()) {
      throw cause;
    }
  }

  @Override
  public void dumped(String world, String occasion, FlightDump dump) {
    if (store == null) {
      RankContext.super.dumped(world, occasion, dump);
    } else {
      store.handIn(occasion, dump);
    }
  }

  @Override
  public Store checkpoints(Store ofFirstGroup, Deadline deadline) {
    if (store == null) {
      throw new IllegalStateException(
          "The driver has no store for collectives, and what rank 0's executor serves goes with the"
              + " stage. "
              + DriverStoreClient.INSTALL);
    }
    return store.checkpoints(deadline);
  }

  /** Returns the addresses of the resource {@code gpu}, in Spark's order. */
  @Override
  public List<String> gpuAddresses() {
    ResourceInformation gpus = task.resourcesJMap().get("gpu");
    return gpus == null ? List.of() : List.of(gpus.addresses());
  }

  @Override
  public Configuration configuration() {
    return configuration;
  }

  @Override
  public String bindHost() {
    return env.blockManager().blockManagerId().host();
  }

  /**
   * Returns what the script tells, else Spark's own topology mapper ({@code
   * spark.storage.replication.topologyMapper}), else on YARN Hadoop's rack. Blocks for {@link
   * #RACK_PATIENCE} or half of the time that is left at the most, or until the task is killed.
   */
  @Override
  public String rack(Deadline deadline) {
    if (configuration.get(SparkPluginConfiguration.TOPOLOGY_SCRIPT).isEmpty()) {
      Option<String> topology = env.blockManager().blockManagerId().topologyInfo();
      if (topology.isDefined()) {
        return topology.get();
      }
      // A host that the mapper does not know has no rack: YARN's names are others.
      if (env.conf().contains(TOPOLOGY_MAPPER)
          || !env.conf().get("spark.master", "").startsWith("yarn")) {
        return "";
      }
    }
    return store == null ? "" : await(store.rack(bindHost()), deadline);
  }

  private String await(CompletableFuture<String> rack, Deadline ofGroup) {
    Deadline deadline =
        Deadline.after(Deadline.smaller(RACK_PATIENCE, ofGroup.left().dividedBy(2)));
    while (!isKilled() && !deadline.isOver()) {
      try {
        return rack.get(KILL_CHECK_MILLIS, TimeUnit.MILLISECONDS);
      } catch (TimeoutException e) {
        // It may come still.
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
        return "";
      } catch (ExecutionException e) {
        LOG.warn("The rack of host {} is not known: {}", bindHost(), e.getCause().getMessage());
        return "";
      }
    }
    if (!isKilled()) {
      LOG.warn(
          "The rack of host {} is not known: the driver did not tell it within {}",
          bindHost(),
          deadline.total());
    }
    return "";
  }

  @Override
  public TransportSecurity security() {
    return SparkSecurity.of(env);
  }

  @Override
  public ObjectCodec objectCodec() {
    return objectCodec;
  }
}
