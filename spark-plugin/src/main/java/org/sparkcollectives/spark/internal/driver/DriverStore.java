package org.sparkcollectives.spark.internal.driver;

import static org.sparkcollectives.spark.config.SparkPluginConfiguration.STATISTICS_INTERVAL;
import static org.sparkcollectives.spark.config.SparkPluginConfiguration.STORE_MAX_SIZE;
import static org.sparkcollectives.spark.config.SparkPluginConfiguration.TOPOLOGY_SCRIPT;

import com.codahale.metrics.Timer;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletionException;
import java.util.concurrent.Executor;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.Function;
import java.util.function.Predicate;
import java.util.function.Supplier;
import org.apache.spark.rpc.RpcAddress;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.sparkcollectives.config.Configuration;
import org.sparkcollectives.spark.config.SparkPluginConfiguration;
import org.sparkcollectives.spark.internal.protocol.DriverThreads;
import org.sparkcollectives.spark.internal.protocol.QuorumRequest;
import org.sparkcollectives.spark.internal.protocol.StageAttempt;
import org.sparkcollectives.spark.internal.protocol.StoreMessages;
import org.sparkcollectives.store.StoreException;
import org.sparkcollectives.store.StoreSession;
import org.sparkcollectives.store.StoreTable;

/**
 * The store in the driver, in which the ranks of an application's barrier stages find each other.
 *
 * <p>Requests, kills and clean-ups are short, and wait for none that is not. Large values come in
 * pieces, of which few are in memory at once, by a path of their own ({@link ValueUploads}), and
 * lie in blocks ({@link BlockValues}).
 *
 * <p>Its clients are the {@link StoreClients}; when a stage ends, its keys, blocks and clients go.
 * What is to stay for later attempts is in the {@link CheckpointScopes}; what outlives tasks and
 * stages, because it belongs to a call of {@code ElasticStage}, in the {@link Runs}.
 */
final class DriverStore {

  /**
   * The time for which the keys of a failed stage stay: its tasks are still being killed, and look
   * there for the first cause.
   */
  private static final long KEEP_FAILED_SECONDS = 5;

  /** The longest that a script may run which tells racks. */
  private static final Duration TOPOLOGY_LIMIT = Duration.ofSeconds(10);

  /** The number of threads that write pieces of large values. */
  private static final int WRITERS = 2;

  private static final int MESSAGE_HEAD_BYTES = 1 << 10;

  /**
   * The way of large values to the store.
   *
   * @param chunkBytes the size of the messages in which they travel, and of the blocks in which
   *     they lie
   * @param inFlightBytes how many bytes of them all ranks together may send at once, which bounds
   *     what they take of the driver's heap; other ranks wait for their turn
   */
  record Traffic(int chunkBytes, long inFlightBytes) {

    /** As drivers have it. */
    static final Traffic DEFAULT = new Traffic(4 << 20, 32 << 20);
  }

  private static final Logger LOG = LoggerFactory.getLogger(DriverStore.class);

  private final ScheduledThreadPoolExecutor background =
      DriverThreads.scheduler("collectives-driver-store");
  private final ThreadPoolExecutor largeValues =
      DriverThreads.pool("collectives-driver-values", WRITERS);
  private final ThreadPoolExecutor topologyThread =
      DriverThreads.pool("collectives-driver-topology", 1);
  private final HostRacks racks;
  private final ThreadPoolExecutor removals = DriverThreads.pool("collectives-driver-blocks", 1);
  private final BlockValues values;
  private final ValueUploads uploads;
  private final StoreTable table;
  private final CheckpointScopes checkpoints;
  private final DumpCollection dumps;
  private final ThrownExceptions thrown = new ThrownExceptions();
  private final StoreClients clients;
  private final Runs runs;
  private final StatisticsCollector statistics;
  private final Timer messageTimer = new Timer();
  private final ScheduledThreadPoolExecutor statisticsThread =
      DriverThreads.scheduler("collectives-driver-statistics");

  private boolean groupsEnded;

  /**
   * Creates the store of a driver.
   *
   * @param blocks makes what keeps large values, with where they are removed
   * @param application gives its id, which is not known yet while plugins start
   * @param decommissioned whether Spark is ending an executor, as it has announced
   * @param topology of Spark, for which {@link SparkPluginConfiguration#TOPOLOGY_SCRIPT} stands in
   */
  DriverStore(
      Function<Executor, Blocks> blocks,
      Configuration settings,
      Traffic traffic,
      Supplier<String> application,
      StageTearDown.Kill kill,
      Predicate<String> decommissioned,
      HostRacks.Topology topology) {
    // A message is a little longer than its piece, and together they are a chunk.
    int pieceBytes = traffic.chunkBytes() - MESSAGE_HEAD_BYTES;
    values = new BlockValues(blocks.apply(removals), pieceBytes, settings.get(STORE_MAX_SIZE));
    uploads = new ValueUploads(values, traffic.inFlightBytes(), largeValues);
    table = new StoreTable(values);
    checkpoints = new CheckpointScopes(table);
    dumps = new DumpCollection(application, settings, DumpCollection.MOST_BYTES);
    String script = settings.get(TOPOLOGY_SCRIPT);
    racks =
        new HostRacks(
            script.isEmpty() ? topology : new TopologyScript(script, TOPOLOGY_LIMIT),
            topologyThread);
    StageTearDown tearDown = new StageTearDown(kill, background);
    statistics =
        new StatisticsCollector(
            statisticsThread,
            step ->
                statisticsThread.schedule(
                    step, StatisticsCollector.PERIOD.toMillis(), TimeUnit.MILLISECONDS),
            System::currentTimeMillis,
            settings.get(STATISTICS_INTERVAL),
            dumps::ofFailure);
    // After close there is nothing left to remove later. Spark ends jobs and stages even then.
    background.setRejectedExecutionHandler(new ThreadPoolExecutor.DiscardPolicy());
    clients = new StoreClients(table, uploads, largeValues, checkpoints, tearDown);
    runs = new Runs(clients, application, kill, decommissioned, background);
  }

  /**
   * Handles one message, and replies now or later. Does not block: what may wait for a disk is done
   * by threads for that.
   */
  void receive(RpcAddress sender, byte[] bytes, Consumer<byte[]> replies) {
    Consumer<byte[]> reply = content -> send(content, replies);
    ByteBuffer message = ByteBuffer.wrap(bytes);
    long began = System.nanoTime();
    try {
      byte kind = StoreMessages.kind(message);
      UUID id = StoreMessages.session(message);
      switch (kind) {
        case StoreMessages.OPEN -> {
          clients.open(id, StoreMessages.joinRequest(message), sender);
          reply.accept(StoreMessages.ok(new byte[0]));
        }
        case StoreMessages.CHECKPOINTS -> {
          clients.openCheckpoints(id, StoreMessages.session(message));
          reply.accept(StoreMessages.ok(new byte[0]));
        }
        case StoreMessages.RUN -> {
          runs.open(id, StoreMessages.runRequest(message), sender);
          reply.accept(StoreMessages.ok(new byte[0]));
        }
        case StoreMessages.QUORUM -> {
          QuorumRequest request = QuorumRequest.decode(StoreMessages.rest(message));
          runs.ask(clients.replica(id), request)
              .thenApply(quorum -> StoreMessages.ok(quorum.encode()))
              .whenComplete((quorum, cause) -> answer(id, quorum, cause, reply));
        }
        case StoreMessages.CALL -> call(id, message, reply);
        case StoreMessages.UPLOAD -> {
          clients.require(id);
          uploads
              .begin(id, StoreMessages.size(message))
              .thenApply(upload -> StoreMessages.uploadBegun(upload, uploads.pieceBytes()))
              .whenComplete((begun, cause) -> answer(id, begun, cause, reply));
        }
        case StoreMessages.PIECE ->
            uploads
                .piece(id, StoreMessages.upload(message), message.slice())
                .thenApply(written -> StoreMessages.ok(new byte[0]))
                .whenComplete((written, cause) -> answer(id, written, cause, reply));
        case StoreMessages.RACK ->
            racks
                .of(StoreMessages.text(message))
                .thenApply(rack -> StoreMessages.ok(rack.getBytes(StandardCharsets.UTF_8)))
                .whenComplete((rack, cause) -> answer(id, rack, cause, reply));
        case StoreMessages.ROOM -> reply.accept(StoreMessages.roomIs(values.free()));
        case StoreMessages.DISCARD -> {
          uploads.discard(id, StoreMessages.upload(message));
          reply.accept(StoreMessages.ok(new byte[0]));
        }
        case StoreMessages.WILL -> {
          clients.keepWill(id, StoreMessages.text(message), message);
          reply.accept(StoreMessages.ok(new byte[0]));
        }
        case StoreMessages.DUMP -> {
          // Its stage may be over for the store: it is the failed ones that dump.
          dumps.receive(
              StoreMessages.stage(message),
              StoreMessages.text(message),
              StoreMessages.rest(message));
          reply.accept(StoreMessages.ok(new byte[0]));
        }
        case StoreMessages.TEAR_DOWN -> {
          clients.tearDown(id, StoreMessages.millis(message), StoreMessages.text(message));
          reply.accept(StoreMessages.ok(new byte[0]));
        }
        case StoreMessages.STATISTICS -> {
          statistics.receive(StoreMessages.rest(message));
          reply.accept(StoreMessages.ok(new byte[0]));
        }
        case StoreMessages.THROWN -> {
          StageAttempt stage = StoreMessages.stage(message);
          thrown.receive(StoreMessages.text(message), stage, StoreMessages.rest(message));
          reply.accept(StoreMessages.ok(new byte[0]));
        }
        case StoreMessages.CLOSE -> {
          clients.close(id);
          reply.accept(StoreMessages.ok(new byte[0]));
        }
        default -> reply.accept(StoreMessages.refused("a message of kind " + kind));
      }
    } catch (StoreException e) {
      reply.accept(StoreMessages.refused(e.getMessage()));
    } catch (RuntimeException e) {
      reply.accept(StoreMessages.refused(e.toString()));
    } catch (Error e) {
      // Nobody else would tell the client.
      reply.accept(StoreMessages.refused("the driver failed: " + e));
      throw e;
    } finally {
      messageTimer.update(System.nanoTime() - began, TimeUnit.NANOSECONDS);
    }
  }

  /** Sends a reply. If that fails, tells the client, which would wait for it in vain. */
  private static void send(byte[] reply, Consumer<byte[]> to) {
    try {
      to.accept(reply);
    } catch (RuntimeException | Error e) {
      LOG.warn("A reply of {} bytes of the driver's store could not be sent", reply.length, e);
      to.accept(
          StoreMessages.refused(
              "The driver could not send its reply of " + reply.length + " bytes: " + e));
    }
  }

  private void answer(UUID id, byte[] reply, Throwable cause, Consumer<byte[]> to) {
    Throwable failure = cause instanceof CompletionException ? cause.getCause() : cause;
    if (failure == null) {
      to.accept(reply);
    } else if (failure instanceof CancellationException) {
      to.accept(StoreMessages.refused(clients.refusal(id)));
    } else {
      to.accept(
          StoreMessages.refused(
              failure instanceof StoreException ? failure.getMessage() : failure.toString()));
    }
  }

  private void call(UUID id, ByteBuffer request, Consumer<byte[]> reply) {
    StoreSession session = clients.session(id);
    if (session == null) {
      reply.accept(StoreMessages.refused(clients.refusal(id)));
      return;
    }
    session
        .answer(request)
        .thenApply(StoreMessages::ok)
        .whenComplete((answer, cause) -> answer(id, answer, cause, reply));
  }

  /** Returns the tasks that use the store. */
  StoreClients clients() {
    return clients;
  }

  /** Returns the calls of {@code ElasticStage} that are under way. */
  Runs runs() {
    return runs;
  }

  /** Returns what executors have reported of their ranks. */
  StatisticsCollector statistics() {
    return statistics;
  }

  /** Returns what times the messages of clients, each until the driver's thread is done with it. */
  Timer messageTimer() {
    return messageTimer;
  }

  /** Returns the collection of the ranks' dumps. */
  DumpCollection dumps() {
    return dumps;
  }

  /** Removes what a stage has kept here, when it has ended, successfully or not. */
  void stageEnded(StageAttempt stage, boolean failed) {
    statistics.stageEnded(stage);
    if (failed) {
      background.schedule(() -> clients.stageOver(stage), KEEP_FAILED_SECONDS, TimeUnit.SECONDS);
    } else {
      clients.stageOver(stage);
    }
  }

  void jobStarted(int job, Set<Integer> stages) {
    checkpoints.jobStarted(job, stages);
  }

  /** Notes that a job has ended. The tasks of one that failed may still be running. */
  void jobEnded(int job, boolean succeeded) {
    if (succeeded) {
      checkpoints.jobEnded(job, true);
    } else {
      background.schedule(
          () -> checkpoints.jobEnded(job, false), KEEP_FAILED_SECONDS, TimeUnit.SECONDS);
    }
  }

  /** Returns what ranks have thrown. */
  ThrownExceptions thrown() {
    return thrown;
  }

  /** Releases what is kept of a call of {@code BarrierStage} that has no further job. */
  void release(String call) {
    checkpoints.release(call);
    thrown.release(call);
  }

  /** Returns the table that holds the data. */
  StoreTable table() {
    return table;
  }

  /** Returns the large values, which lie in blocks. */
  BlockValues values() {
    return values;
  }

  /** Returns where large values arrive. */
  ValueUploads uploads() {
    return uploads;
  }

  /**
   * Ends all groups, because the application ends, and tells the listeners; the first call does so.
   * Others wait for it: two seconds at the most.
   */
  synchronized void endGroups() {
    if (!groupsEnded) {
      groupsEnded = true;
      // The last events say what the dumps tell.
      dumps.reportAll();
      statistics.applicationEnded();
    }
  }

  void close() {
    endGroups();
    statisticsThread.shutdownNow();
    dumps.close();
    table.close();
    background.shutdownNow();
    largeValues.shutdownNow();
    topologyThread.shutdownNow();
    removals.shutdown();
  }
}
