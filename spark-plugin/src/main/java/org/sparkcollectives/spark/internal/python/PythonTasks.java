package org.sparkcollectives.spark.internal.python;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Map;
import java.util.Properties;
import org.apache.spark.BarrierTaskContext;
import org.apache.spark.SparkEnv;
import org.apache.spark.TaskContext;
import org.apache.spark.api.plugin.ExecutorPlugin;
import org.apache.spark.api.plugin.PluginContext;
import org.apache.spark.util.TaskCompletionListener;
import org.apache.spark.util.TaskFailureListener;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.sparkcollectives.GroupOptions;
import org.sparkcollectives.ProcessGroup;
import org.sparkcollectives.ReconfigurableGroup;
import org.sparkcollectives.config.Configuration;
import org.sparkcollectives.spark.config.SparkPluginConfiguration;
import org.sparkcollectives.spark.config.SparkSettings;
import org.sparkcollectives.spark.elastic.LostRows;
import org.sparkcollectives.spark.internal.elastic.QuorumReplica;
import org.sparkcollectives.spark.internal.elastic.ReplicaTask;
import org.sparkcollectives.spark.internal.executor.ExecutorStatistics;
import org.sparkcollectives.spark.internal.executor.TaskWorlds;
import org.sparkcollectives.spi.CollectivesConfiguration;
import org.sparkcollectives.spi.RankTuning;
import org.sparkcollectives.store.StoreConfiguration;

/**
 * Passes this JVM's port and a secret to the Python worker of each barrier task, and of each
 * replica of an elastic stage, in the task's local properties. Spark passes them to the worker, and
 * to nobody else.
 *
 * <p>With a local master they are those of the job, which Spark gives to the tasks of its other
 * stages and writes to the event log when it submits one. So there they only name a file that has
 * the secret, which the user alone can read.
 */
public final class PythonTasks implements ExecutorPlugin {

  private static final Logger LOG = LoggerFactory.getLogger(PythonTasks.class);

  static final String HOST = "spark.collectives.python.host";
  static final String PORT = "spark.collectives.python.port";
  static final String SECRET = "spark.collectives.python.secret";
  static final String SECRET_FILE = "spark.collectives.python.secretFile";
  static final String STORE_TIMEOUT = "spark.collectives.python.storeTimeout";
  static final String NAN_CHECK = "spark.collectives.python.nanCheck";
  static final String DEBUG = "spark.collectives.python.debug";

  /** The run whose replicas the tasks of a job train. */
  static final String RUN = "spark.collectives.python.run";

  static final String JAR_VERSION = "spark.collectives.python.jarVersion";

  /**
   * How long a thread that waits for other ranks spins. A rank here is two processes that take
   * turns, and a scheduler puts the one that is woken where the other last ran: beside the waiting
   * thread of another rank, which must not keep it from the processor for long.
   */
  private static final RankTuning TUNING = RankTuning.DEFAULT.withSpin(Duration.ofNanos(30_000));

  private final PythonBridge bridge = new PythonBridge(PythonTasks::localFolder);

  private volatile PluginContext plugin;

  /** The secret of all tasks of a local master; null until the first begins. */
  private SecretFile secretFile;

  /** A secret, and the file in which the workers of a local master read it. */
  private record SecretFile(String secret, Path path) {

    static SecretFile create(String secret) throws IOException {
      Files.createDirectories(localFolder());
      // Made with the mode 0600 where the file system has modes.
      Path path = Files.createTempFile(localFolder(), "collectives-python-", "");
      try {
        Files.writeString(path, secret);
      } catch (IOException e) {
        Files.deleteIfExists(path);
        throw e;
      }
      return new SecretFile(secret, path);
    }

    /** Does not show the secret. */
    @Override
    public String toString() {
      return path.toString();
    }
  }

  @Override
  public void init(PluginContext context, Map<String, String> fromDriver) {
    plugin = context;
    ExecutorStatistics.register(context.metricRegistry(), fromDriver);
  }

  private static Path localFolder() {
    return SparkEnv.get().blockManager().diskBlockManager().localDirs()[0].toPath();
  }

  @Override
  public void onTaskStart() {
    Configuration settings = SparkSettings.of(SparkEnv.get().conf());
    TaskContext task = TaskContext.get();
    if (task instanceof BarrierTaskContext) {
      ExecutorStatistics.begin(task);
    } else if (task.getLocalProperty(RUN) == null) {
      return;
    }
    if (settings.get(SparkPluginConfiguration.PYTHON_ENABLED)) {
      try {
        begin(task, settings);
      } catch (IOException e) {
        LOG.warn("Python workers of task {} cannot have a group", task.taskAttemptId(), e);
      }
    }
  }

  private void begin(TaskContext task, Configuration settings) throws IOException {
    Properties properties = task.getLocalProperties();
    WorkerTask rank = new WorkerTask(task, plugin, settings);
    // With a local master, the tasks of a stage share one properties object. They then share a
    // secret, and the later tasks add no keys: Spark counts the keys and then sends them to the
    // workers of the earlier tasks.
    synchronized (properties) {
      PythonBridge.Address address;
      if (SparkEnv.get().blockManager().blockManagerId().isDriver()) {
        SecretFile file = secretFile();
        address = bridge.begin(rank, file.secret());
        properties.setProperty(SECRET_FILE, file.path().toString());
      } else {
        address = bridge.begin(rank);
        properties.setProperty(SECRET, address.secret());
      }
      properties.setProperty(HOST, address.host());
      properties.setProperty(PORT, Integer.toString(address.port()));
      properties.setProperty(
          STORE_TIMEOUT, Long.toString(settings.get(StoreConfiguration.TIMEOUT).toMillis()));
      properties.setProperty(DEBUG, settings.get(CollectivesConfiguration.DEBUG).name());
      properties.setProperty(
          NAN_CHECK, Boolean.toString(settings.get(CollectivesConfiguration.NAN_CHECK)));
      String version = PythonTasks.class.getPackage().getImplementationVersion();
      if (version != null) {
        properties.setProperty(JAR_VERSION, version);
      }
    }
    long attempt = task.taskAttemptId();
    TaskCompletionListener onEnd = ended -> bridge.end(attempt);
    TaskFailureListener onFailure = (failed, cause) -> bridge.failed(attempt);
    task.addTaskCompletionListener(onEnd);
    task.addTaskFailureListener(onFailure);
  }

  private synchronized SecretFile secretFile() throws IOException {
    if (secretFile == null) {
      secretFile = SecretFile.create(PythonBridge.newSecret());
    } else if (!Files.exists(secretFile.path())) {
      // What removes old temporary files has removed it.
      secretFile = SecretFile.create(secretFile.secret());
    }
    return secretFile;
  }

  @Override
  public synchronized void shutdown() {
    if (secretFile != null) {
      try {
        Files.deleteIfExists(secretFile.path());
      } catch (IOException e) {
        LOG.debug("{} could not be deleted; it goes with Spark's folder", secretFile.path(), e);
      }
      secretFile = null;
    }
  }

  /** A task of Spark. The bridge's threads have no task context of their own. */
  private record WorkerTask(TaskContext task, PluginContext plugin, Configuration settings)
      implements PythonTask {

    private BarrierTaskContext barrier() {
      if (task instanceof BarrierTaskContext barrier) {
        return barrier;
      }
      throw new IllegalStateException(
          "The replicas of an elastic stage are not the ranks of a barrier stage, and have no such"
              + " group: they reduce by the calls of their manager");
    }

    @Override
    public long attempt() {
      return task.taskAttemptId();
    }

    @Override
    public int rank() {
      return task.partitionId();
    }

    @Override
    public ProcessGroup join(GroupOptions options, int number) {
      return number == 1
          ? TaskWorlds.of(barrier(), settings, TUNING, options, "")
          : TaskWorlds.another(barrier(), settings, TUNING, options, number);
    }

    @Override
    public ReconfigurableGroup reconfigurable(GroupOptions options, int number) {
      return TaskWorlds.reconfigurable(barrier(), settings, TUNING, options, number);
    }

    @Override
    public QuorumReplica replica(String run, int checkpointInterval) {
      return ReplicaTask.begin(task, run, task.numPartitions(), checkpointInterval, LostRows.DROP);
    }

    @Override
    public void report(byte[] message, boolean await) {
      try {
        if (await) {
          plugin.ask(message);
        } else {
          plugin.send(message);
        }
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
      } catch (Exception e) {
        throw new IllegalStateException("The driver cannot be reached: " + e.getMessage(), e);
      }
    }
  }
}
