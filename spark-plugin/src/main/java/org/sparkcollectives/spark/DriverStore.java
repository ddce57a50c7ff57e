package org.sparkcollectives.spark;

import static org.sparkcollectives.spark.SparkPluginConfiguration.STORE_CHUNK;
import static org.sparkcollectives.spark.SparkPluginConfiguration.STORE_MAX_IN_FLIGHT;
import static org.sparkcollectives.spark.SparkPluginConfiguration.STORE_MAX_SIZE;

import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.Map;
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
import java.util.function.Supplier;
import org.apache.spark.SparkContext;
import org.apache.spark.SparkEnv;
import org.apache.spark.rpc.RpcAddress;
import org.apache.spark.rpc.RpcEndpointRef;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.sparkcollectives.Failure;
import org.sparkcollectives.config.Configuration;
import org.sparkcollectives.internal.failure.FailureCodec;
import org.sparkcollectives.internal.failure.PublishedFailure;
import org.sparkcollectives.membership.FailedRendezvous;
import org.sparkcollectives.store.Store;
import org.sparkcollectives.store.StoreException;
import org.sparkcollectives.store.StoreSession;
import org.sparkcollectives.store.StoreTable;
import org.sparkcollectives.store.TableStore;

/**
 * The store in the driver, in which the ranks of an application's barrier stages find each other.
 *
 * <p>Requests, kills and clean-ups are short, and wait for none that is not. Large values come in
 * pieces, of which few are in memory at once, by a path of their own ({@link ValueUploads}), and
 * lie in blocks ({@link BlockValues}).
 *
 * <p>Each client belongs to one attempt of one stage and sees the keys of that attempt only. Once a
 * later attempt has a client, those of earlier ones are refused; when a stage ends, its keys,
 * blocks and clients go. What is to stay for later attempts is in the {@link CheckpointScopes}.
 */
final class DriverStore {

  /** The name of the RPC endpoint. */
  static final String ENDPOINT = "spark-collectives-store";

  /**
   * How long the keys of a stage that failed stay: its tasks are still being killed, and look there
   * for the first cause.
   */
  private static final long KEEP_FAILED_SECONDS = 5;

  /** How many pieces of large values are written at once. */
  private static final int WRITERS = 2;

  private static final int MESSAGE_HEAD_BYTES = 1 << 10;
  private static final String OVER = "this client's stage is over, or its executor was lost";

  /** The table is in this JVM: no call takes long. */
  private static final Duration WILL_TIMEOUT = Duration.ofSeconds(1);

  private static final Logger LOG = LoggerFactory.getLogger(DriverStore.class);
  private static final Map<String, DriverStore> INSTALLED = new HashMap<>();

  /**
   * A task's client.
   *
   * @param scope where its checkpoints are
   * @param joins what it is to join first; null if it is for checkpoints only
   * @param wills by group that it has joined, the record to publish there if the client is lost
   */
  private record Client(
      StageAttempt stage,
      RpcAddress address,
      String scope,
      StoreSession session,
      JoinRequest joins,
      Map<String, Failure> wills) {}

  private final ScheduledThreadPoolExecutor background =
      DriverThreads.scheduler("collectives-driver-store");
  private final ThreadPoolExecutor largeValues =
      DriverThreads.pool("collectives-driver-values", WRITERS);
  private final ThreadPoolExecutor removals = DriverThreads.pool("collectives-driver-blocks", 1);
  private final BlockValues values;
  private final ValueUploads uploads;
  private final StoreTable table;
  private final CheckpointScopes checkpoints;
  private final DumpCollection dumps;
  private final StageTearDown tearDown;
  private final Map<UUID, Client> clients = new HashMap<>();
  private final AttemptFence attempts = new AttemptFence();
  private final EndedTasks endedTasks = new EndedTasks(this::failRendezvous);

  /**
   * The store of a driver.
   *
   * @param blocks makes what keeps large values, with where they are removed
   * @param application gives its id, which is not known yet while plugins start
   */
  DriverStore(
      Function<Executor, Blocks> blocks,
      Configuration settings,
      Supplier<String> application,
      StageTearDown.Kill kill) {
    // A message is a little longer than its piece, and together they are the size that was set.
    int pieceBytes = (int) (settings.get(STORE_CHUNK) - MESSAGE_HEAD_BYTES);
    values = new BlockValues(blocks.apply(removals), pieceBytes, settings.get(STORE_MAX_SIZE));
    uploads = new ValueUploads(values, settings.get(STORE_MAX_IN_FLIGHT), largeValues);
    table = new StoreTable(values);
    checkpoints = new CheckpointScopes(table);
    dumps = new DumpCollection(application, settings);
    tearDown = new StageTearDown(kill, background);
  }

  /** Installs the store in a running application, unless it is there. */
  static void install(SparkContext context) {
    SparkEnv env = SparkEnv.get();
    String application = env.rpcEnv().address().toString();
    synchronized (INSTALLED) {
      if (INSTALLED.containsKey(application)) {
        return;
      }
      DriverStore store =
          new DriverStore(
              removals -> new SparkBlocks(env.blockManager(), removals),
              TaskRank.settings(env.conf()),
              env.conf()::getAppId,
              context::killTaskAttempt);
      RpcEndpointRef endpoint =
          env.rpcEnv().setupEndpoint(ENDPOINT, new StoreEndpoint(env.rpcEnv(), store));
      INSTALLED.put(application, store);
      StageListener listener =
          new StageListener(
              store,
              () -> {
                synchronized (INSTALLED) {
                  INSTALLED.remove(application);
                }
                env.rpcEnv().stop(endpoint);
                store.close();
              });
      context.listenerBus().addToQueue(listener, StageListener.QUEUE);
      LOG.info("The driver's store for collectives is at endpoint {} of {}", ENDPOINT, application);
      SparkSecurity.warnIfOpen(env);
    }
  }

  /**
   * Takes one message and gives the reply, now or later. Does not block: what may wait for a disk
   * is done by threads for that.
   */
  void receive(RpcAddress sender, byte[] bytes, Consumer<byte[]> reply) {
    ByteBuffer message = ByteBuffer.wrap(bytes);
    try {
      byte kind = StoreMessages.kind(message);
      UUID id = StoreMessages.session(message);
      switch (kind) {
        case StoreMessages.OPEN -> {
          open(id, StoreMessages.joinRequest(message), sender);
          reply.accept(StoreMessages.ok(new byte[0]));
        }
        case StoreMessages.CHECKPOINTS -> {
          openCheckpoints(id, StoreMessages.session(message));
          reply.accept(StoreMessages.ok(new byte[0]));
        }
        case StoreMessages.CALL -> call(id, message, reply);
        case StoreMessages.UPLOAD ->
            uploads
                .begin(id, StoreMessages.size(message))
                .thenApply(upload -> StoreMessages.uploadBegun(upload, uploads.pieceBytes()))
                .whenComplete((begun, cause) -> answer(begun, cause, reply));
        case StoreMessages.PIECE ->
            uploads
                .piece(id, StoreMessages.upload(message), message.slice())
                .thenApply(written -> StoreMessages.ok(new byte[0]))
                .whenComplete((written, cause) -> answer(written, cause, reply));
        case StoreMessages.ROOM -> reply.accept(StoreMessages.roomIs(values.free()));
        case StoreMessages.DISCARD -> {
          uploads.discard(id, StoreMessages.upload(message));
          reply.accept(StoreMessages.ok(new byte[0]));
        }
        case StoreMessages.WILL -> {
          keepWill(id, StoreMessages.text(message), message);
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
          tearDown(id, StoreMessages.millis(message), StoreMessages.text(message));
          reply.accept(StoreMessages.ok(new byte[0]));
        }
        case StoreMessages.CLOSE -> {
          close(id);
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
    }
  }

  private synchronized void open(UUID id, JoinRequest joins, RpcAddress sender) {
    StageAttempt stage = joins.stage();
    StageAttempt before = attempts.enter(stage);
    if (before != null) {
      remove(before, stage + " has begun");
    }
    StoreSession session = session(id, stage.keyPrefix());
    String scope = CheckpointScopes.scope(joins.call(), stage);
    clients.put(id, new Client(stage, sender, scope, session, joins, new HashMap<>()));
    endedTasks.joins(stage, joins.group());
  }

  /** Those of another stage that tried the same before are refused from now on. */
  private synchronized void openCheckpoints(UUID id, UUID opened) {
    Client owner = clients.get(opened);
    if (owner == null) {
      throw new IllegalStateException(OVER);
    }
    String scope = owner.scope();
    StoreSession session = checkpoints.open(scope, owner.stage(), prefix -> session(id, prefix));
    dropClients(client -> client.scope().equals(scope) && client.stage().isBefore(owner.stage()));
    clients.put(
        id, new Client(owner.stage(), owner.address(), scope, session, null, new HashMap<>()));
  }

  private StoreSession session(UUID id, String keyPrefix) {
    uploads.open(id);
    return new StoreSession(
        table,
        keyPrefix,
        largeValues,
        reference -> uploads.take(id, StoreMessages.upload(ByteBuffer.wrap(reference))));
  }

  private static void answer(byte[] reply, Throwable cause, Consumer<byte[]> to) {
    Throwable failure = cause instanceof CompletionException ? cause.getCause() : cause;
    if (failure == null) {
      to.accept(reply);
    } else if (failure instanceof CancellationException) {
      to.accept(StoreMessages.refused(OVER));
    } else {
      to.accept(
          StoreMessages.refused(
              failure instanceof StoreException ? failure.getMessage() : failure.toString()));
    }
  }

  private void call(UUID id, ByteBuffer request, Consumer<byte[]> reply) {
    Client client;
    synchronized (this) {
      client = clients.get(id);
    }
    if (client == null) {
      reply.accept(StoreMessages.refused(OVER));
      return;
    }
    client
        .session()
        .answer(request)
        .thenApply(StoreMessages::ok)
        .whenComplete((answer, cause) -> answer(answer, cause, reply));
  }

  private synchronized void keepWill(UUID id, String group, ByteBuffer record) {
    Client client = clients.get(id);
    if (client == null) {
      return;
    }
    if (record.hasRemaining()) {
      byte[] bytes = new byte[record.remaining()];
      record.get(bytes);
      client.wills().put(group, FailureCodec.decode(bytes));
    } else {
      client.wills().remove(group);
    }
  }

  /** All tasks of the client's stage that are in a group are to fail. */
  private synchronized void tearDown(UUID id, long patienceMillis, String reason) {
    Client asking = clients.get(id);
    if (asking == null) {
      return;
    }
    Set<Long> tasks = new HashSet<>();
    for (Client client : clients.values()) {
      if (client.stage().equals(asking.stage())) {
        client.wills().values().forEach(will -> tasks.add(will.taskAttemptId()));
      }
    }
    tearDown.begin(asking.stage(), tasks, patienceMillis, reason);
  }

  private void close(UUID id) {
    Client client;
    synchronized (this) {
      client = clients.remove(id);
    }
    if (client != null) {
      close(id, client);
    }
  }

  private void close(UUID id, Client client) {
    client.session().close();
    uploads.close(id);
  }

  /** An executor's connection is gone, and with it its clients: what they left word of is said. */
  synchronized void disconnected(RpcAddress address) {
    for (Client client : clients.values()) {
      if (address.equals(client.address())) {
        if (client.joins() != null) {
          failRendezvous(client.stage(), client.joins().group(), client.joins().ifLost());
        }
        publishWills(client);
      }
    }
    dropClients(client -> address.equals(client.address()));
  }

  private void publishWills(Client client) {
    Store store = store(client.stage());
    client
        .wills()
        .forEach(
            (group, failure) -> {
              LOG.info("{} of group {} was lost", failure.where(), group);
              new PublishedFailure(store.withPrefix(group)).offer(failure);
            });
  }

  /** The ranks of a group that is not made yet are told that one of them will not come. */
  private void failRendezvous(StageAttempt stage, String group, Failure failure) {
    if (FailedRendezvous.publish(store(stage).withPrefix(group), failure)) {
      LOG.info(
          "Group {} is not made, because {} {}", group, failure.where(), failure.kind().verb());
    }
  }

  /** A task has ended, well or not: whoever waits for its rank to join waits in vain. */
  synchronized void taskEnded(StageAttempt stage, Failure failure) {
    if (!attempts.isOver(stage)) {
      endedTasks.ended(stage, failure);
    }
  }

  /** Where the ranks' dumps arrive. */
  DumpCollection dumps() {
    return dumps;
  }

  /** The keys of a stage. */
  Store store(StageAttempt stage) {
    return new TableStore(table, "the driver's store", WILL_TIMEOUT)
        .withPrefix(stage.keyPrefix().replaceAll("/$", ""));
  }

  /**
   * The worlds that there are, each with its number of ranks; groups made from them are left out.
   */
  synchronized Map<WorldRequests.World, Integer> worlds() {
    Map<WorldRequests.World, Integer> worlds = new LinkedHashMap<>();
    for (Client client : clients.values()) {
      for (String group : client.wills().keySet()) {
        if (client.wills().keySet().stream().noneMatch(each -> group.startsWith(each + "/"))) {
          worlds.merge(new WorldRequests.World(client.stage(), group), 1, Integer::sum);
        }
      }
    }
    return worlds;
  }

  /** A stage has ended, well or not. */
  void stageEnded(StageAttempt stage, boolean failed) {
    if (failed) {
      background.schedule(() -> stageOver(stage), KEEP_FAILED_SECONDS, TimeUnit.SECONDS);
    } else {
      stageOver(stage);
    }
  }

  void jobStarted(int job, Set<Integer> stages) {
    checkpoints.jobStarted(job, stages);
  }

  /** A job has ended, well or not; when it has not, its tasks may still be about to end. */
  void jobEnded(int job, boolean succeeded) {
    if (succeeded) {
      checkpoints.jobEnded(job, true);
    } else {
      background.schedule(
          () -> checkpoints.jobEnded(job, false), KEEP_FAILED_SECONDS, TimeUnit.SECONDS);
    }
  }

  /** No further job will be of this call of {@link BarrierStage}. */
  static void release(SparkEnv env, String call) {
    DriverStore store = of(env);
    if (store != null) {
      store.checkpoints.release(call);
    }
  }

  private synchronized void stageOver(StageAttempt stage) {
    remove(stage, stage + " has ended");
    attempts.end(stage);
    tearDown.ended(stage);
  }

  private void remove(StageAttempt stage, String reason) {
    dropClients(client -> client.stage().equals(stage));
    endedTasks.over(stage);
    long removed = table.removePrefix(stage.keyPrefix(), reason);
    LOG.debug("Removed {} keys, because {}", removed, reason);
  }

  private void dropClients(java.util.function.Predicate<Client> which) {
    for (Iterator<Map.Entry<UUID, Client>> all = clients.entrySet().iterator(); all.hasNext(); ) {
      Map.Entry<UUID, Client> each = all.next();
      if (which.test(each.getValue())) {
        all.remove();
        close(each.getKey(), each.getValue());
      }
    }
  }

  /** The number of keys of all stages. */
  static long keys(SparkEnv env) {
    DriverStore store = of(env);
    return store == null ? 0 : store.table.count("");
  }

  /** The number of clients of all stages. */
  static int clientCount(SparkEnv env) {
    DriverStore store = of(env);
    if (store == null) {
      return 0;
    }
    synchronized (store) {
      return store.clients.size();
    }
  }

  /** The one of this driver's application, or null. */
  static DriverStore of(SparkEnv env) {
    synchronized (INSTALLED) {
      return INSTALLED.get(env.rpcEnv().address().toString());
    }
  }

  /** Where the data is. */
  StoreTable table() {
    return table;
  }

  /** What the large values take. */
  BlockValues values() {
    return values;
  }

  /** Where large values arrive. */
  ValueUploads uploads() {
    return uploads;
  }

  void close() {
    dumps.close();
    table.close();
    background.shutdownNow();
    largeValues.shutdownNow();
    removals.shutdown();
  }
}
