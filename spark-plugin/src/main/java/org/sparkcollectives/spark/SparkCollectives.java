package org.sparkcollectives.spark;

import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import org.apache.spark.BarrierTaskContext;
import org.apache.spark.SparkContext;
import org.apache.spark.SparkEnv;
import org.apache.spark.TaskContext;
import org.apache.spark.api.java.JavaSparkContext;
import org.apache.spark.rdd.RDD;
import org.sparkcollectives.GroupOptions;
import org.sparkcollectives.ProcessGroup;
import org.sparkcollectives.ReconfigurableGroup;
import org.sparkcollectives.spark.config.SparkPluginConfiguration;
import org.sparkcollectives.spark.config.SparkSettings;
import org.sparkcollectives.spark.internal.driver.DriverStores;
import org.sparkcollectives.spark.internal.driver.SlotPreflight;
import org.sparkcollectives.spark.internal.driver.WorldRequests;
import org.sparkcollectives.spark.internal.executor.TaskWorlds;
import org.sparkcollectives.spi.RankAnswer;
import org.sparkcollectives.spi.RankRequest;
import org.sparkcollectives.spi.RankTuning;

/**
 * Creates the groups of a barrier task, installs the library in a running application, and asks
 * running ranks what they do. Only {@link #world}, {@link #reconfigurable} and {@link
 * #isInBarrierTask} are called in tasks; all else is called on the driver.
 */
public final class SparkCollectives {

  private SparkCollectives() {}

  /**
   * Installs the driver's store, the tab "Collectives" and the driver's metrics in a running
   * application, for notebooks and shells; {@code spark.plugins} does so when an application
   * starts. The jar must be on the executors. Calling it again does nothing. Tasks in Java and
   * Scala need no more; those in Python need {@code spark.plugins}.
   */
  public static void install(SparkContext context) {
    if (DriverStores.install(context)) {
      DriverStores.publishMetrics(SparkEnv.get());
    }
  }

  /** Does the same as {@link #install(SparkContext)}. */
  public static void install(JavaSparkContext context) {
    install(context.sc());
  }

  /**
   * Checks that all partitions of {@code rdd} can be ranks at the same time, as {@link
   * BarrierStage} does. Blocks while executors are still starting, for up to {@link
   * SparkPluginConfiguration#PREFLIGHT_TIMEOUT}.
   *
   * @throws IllegalStateException if there are not enough slots, or {@code rdd} has another number
   *     of partitions than an RDD of the same stage; the message has the numbers
   */
  public static void requireSlots(RDD<?> rdd) {
    SlotPreflight.check(rdd);
  }

  /**
   * Makes all ranks of the running barrier stages dump their flight recorders, without failing
   * them, to see what a job waits for that seems to hang.
   *
   * <p>Blocks until all dumps have arrived, or {@code atMost} is over; an executor that does not
   * respond sends none. Ranks dump on threads of the library, even if they hang in their own code.
   *
   * @param reason shown in the dumps
   * @return the folders with the dumps, one for each stage; none if no barrier task has a group
   * @see org.sparkcollectives.recorder.FlightTrace
   */
  public static List<Path> dump(SparkContext context, String reason, Duration atMost)
      throws InterruptedException {
    Objects.requireNonNull(context, "context");
    return WorldRequests.dump(
        SparkEnv.get(),
        Objects.requireNonNull(reason, "reason"),
        Objects.requireNonNull(atMost, "atMost"));
  }

  /**
   * Pings each rank of the running barrier stages; the answers have its process, age and memory.
   *
   * <p>As with {@link #stacks} and {@link #groups}, blocks until all ranks have answered, or {@code
   * atMost} is over; a rank that does not respond is missing. Ranks answer on threads of the
   * library, even if they hang in their own code. Only the driver can ask.
   */
  public static List<RankAnswer> ping(SparkContext context, Duration atMost) {
    return ask(context, RankRequest.Kind.PING, atMost);
  }

  /**
   * Returns the stacks of all threads of each rank's JVM, with the locks that they hold and wait
   * for; one answer for each rank, even if several are in one JVM. Blocks as {@link #ping} does.
   */
  public static List<RankAnswer> stacks(SparkContext context, Duration atMost) {
    return ask(context, RankRequest.Kind.STACKS, atMost);
  }

  /**
   * Returns the groups of each rank, and how far their collectives have come. Blocks as {@link
   * #ping} does.
   */
  public static List<RankAnswer> groups(SparkContext context, Duration atMost) {
    return ask(context, RankRequest.Kind.GROUPS, atMost);
  }

  private static List<RankAnswer> ask(
      SparkContext context, RankRequest.Kind kind, Duration atMost) {
    Objects.requireNonNull(context, "context");
    return WorldRequests.ask(SparkEnv.get(), kind, Objects.requireNonNull(atMost, "atMost"));
  }

  /**
   * Returns whether {@link #world} can be called here: on the thread of a barrier task, or on one
   * to which Spark has passed the task's context. Does not throw, and creates nothing.
   */
  public static boolean isInBarrierTask() {
    return TaskContext.get() instanceof BarrierTaskContext;
  }

  /**
   * Returns the world group of the current barrier task, with the options of the configuration.
   *
   * @see #world(GroupOptions)
   */
  public static ProcessGroup world() {
    return world(GroupOptions.defaults());
  }

  /**
   * Returns the world group of the current barrier task: all tasks of the stage, with the partition
   * as rank.
   *
   * <p>The first call of a task blocks until all tasks of the stage have called it, at most for the
   * smaller of {@code spark.collectives.store.timeout} and the group's timeout. If the driver has
   * no store (neither {@code spark.plugins} nor {@link #install}), it first waits in Spark's own
   * barrier, for as long as Spark allows. Later calls return the same group, whatever their
   * options, even after it was closed. The group is closed when the task ends, and aborted when it
   * fails, so that no other rank waits for it.
   *
   * @throws IllegalStateException outside a barrier task
   * @throws org.sparkcollectives.CollectiveTimeoutException naming the ranks that did not arrive
   * @throws org.sparkcollectives.PeerFailedException if a task of the stage ended without calling
   *     this
   */
  public static ProcessGroup world(GroupOptions options) {
    return world(options, "");
  }

  /**
   * Returns the world group in a task of {@link BarrierStage}.
   *
   * @param call identifies the call of it, among all in the application
   */
  static ProcessGroup world(GroupOptions options, String call) {
    return TaskWorlds.of(
        barrierTask("world"),
        SparkSettings.of(SparkEnv.get().conf()),
        RankTuning.DEFAULT,
        options,
        call);
  }

  /**
   * Returns the reconfigurable group of the current barrier task, without members yet, with the
   * options of the configuration.
   *
   * @see #reconfigurable(GroupOptions)
   */
  public static ReconfigurableGroup reconfigurable() {
    return reconfigurable(GroupOptions.defaults());
  }

  /**
   * Returns the reconfigurable group of the current barrier task, whose members are chosen by
   * {@link ReconfigurableGroup#reconfigure}, among the tasks of the stage. Until then its rank is
   * the partition, and its size the number of tasks. It is independent of {@link #world}, whose
   * store and collectives may carry the handles.
   *
   * <p>Waits for no other task: the first call of a task blocks for a round trip to the driver.
   * Later calls return the same group, whatever their options, even after it was closed. The group
   * is closed when the task ends, and aborted when it fails. Spark fails all tasks of a barrier
   * stage when one fails, so a change helps only with ranks that are stuck or no longer needed.
   *
   * @throws IllegalStateException outside a barrier task, or if the driver has no store (neither
   *     {@code spark.plugins} nor {@link #install})
   */
  public static ReconfigurableGroup reconfigurable(GroupOptions options) {
    return TaskWorlds.reconfigurable(
        barrierTask("reconfigurable"),
        SparkSettings.of(SparkEnv.get().conf()),
        RankTuning.DEFAULT,
        options,
        1);
  }

  private static BarrierTaskContext barrierTask(String method) {
    TaskContext current = TaskContext.get();
    if (current instanceof BarrierTaskContext task) {
      return task;
    }
    String call = "SparkCollectives." + method + "()";
    throw new IllegalStateException(
        current == null
            ? call
                + " must be called inside a task, and this is the driver or a thread that the task"
                + " started; call it in rdd.barrier().mapPartitions(...) and pass the group on"
            : call
                + " must be called inside a barrier task, because ranks must run at the same time;"
                + " write rdd.barrier().mapPartitions(...) or BarrierStage.of(rdd) instead of"
                + " rdd.mapPartitions(...)");
  }
}
