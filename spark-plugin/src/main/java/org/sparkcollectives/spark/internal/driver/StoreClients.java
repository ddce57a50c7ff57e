package org.sparkcollectives.spark.internal.driver;

import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;
import java.util.function.Predicate;
import org.apache.spark.rpc.RpcAddress;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.sparkcollectives.Failure;
import org.sparkcollectives.spark.internal.protocol.JoinRequest;
import org.sparkcollectives.spark.internal.protocol.RunKeys;
import org.sparkcollectives.spark.internal.protocol.RunRequest;
import org.sparkcollectives.spark.internal.protocol.StageAttempt;
import org.sparkcollectives.spark.internal.protocol.StoreMessages;
import org.sparkcollectives.spi.LogContext;
import org.sparkcollectives.spi.failure.FailedRendezvous;
import org.sparkcollectives.spi.failure.FailureCodec;
import org.sparkcollectives.spi.failure.PublishedFailure;
import org.sparkcollectives.store.Store;
import org.sparkcollectives.store.StoreException;
import org.sparkcollectives.store.StoreSession;
import org.sparkcollectives.store.StoreTable;
import org.sparkcollectives.store.TableStore;

/**
 * The tasks that use the driver's store.
 *
 * <p>A client of a barrier stage sees the keys of one attempt of it only. Once a later attempt has
 * a client, those of earlier ones are refused; when a stage ends, its keys and clients go. A
 * replica sees the keys of its run, which stay until the run ends; once Spark has started it again,
 * its earlier task is refused. What a client has left word of is said when its executor is lost.
 *
 * <p>Thread-safe; nothing blocks.
 */
final class StoreClients {

  /** The refusal of a request whose client has been removed. */
  static final String OVER = "this client's stage is over, or its executor was lost";

  /** The table is in this JVM: no call takes long. */
  private static final Duration STORE_TIMEOUT = Duration.ofSeconds(1);

  private static final Logger LOG = LoggerFactory.getLogger(StoreClients.class);

  /**
   * A task's client.
   *
   * @param keyPrefix of the keys that it sees
   * @param run what it is a replica of; null in a barrier stage
   * @param scope where its checkpoints are
   * @param joins what it is to join first; null if it is for checkpoints only
   * @param wills by group that it has joined, the record to publish there if the client is lost
   */
  private record Client(
      StageAttempt stage,
      RpcAddress address,
      String keyPrefix,
      RunRequest run,
      String scope,
      StoreSession session,
      JoinRequest joins,
      Map<String, Failure> wills) {}

  private record Refusal(String run, String reason) {}

  private final StoreTable table;
  private final ValueUploads uploads;
  private final Executor largeValues;
  private final CheckpointScopes checkpoints;
  private final StageTearDown tearDown;
  private final Map<UUID, Client> clients = new HashMap<>();
  private final AttemptFence attempts = new AttemptFence();
  private final RunFence runs = new RunFence();

  /** The refusals of clients of earlier incarnations, until their run ends. */
  private final Map<UUID, Refusal> fenced = new ConcurrentHashMap<>();

  private final EndedTasks endedTasks = new EndedTasks(this::failRendezvous);

  /**
   * Creates the clients of a store, of which there are none yet.
   *
   * @param uploads where their large values arrive
   * @param largeValues carries out what must read or make large values
   * @param checkpoints what stays for later attempts
   * @param tearDown ends the tasks of a stage
   */
  StoreClients(
      StoreTable table,
      ValueUploads uploads,
      Executor largeValues,
      CheckpointScopes checkpoints,
      StageTearDown tearDown) {
    this.table = table;
    this.uploads = uploads;
    this.largeValues = largeValues;
    this.checkpoints = checkpoints;
    this.tearDown = tearDown;
  }

  /**
   * Makes a task a client.
   *
   * @throws IllegalStateException if its stage is over, or a later attempt of it has begun
   */
  synchronized void open(UUID id, JoinRequest joins, RpcAddress sender) {
    StageAttempt stage = joins.stage();
    StageAttempt before = attempts.enter(stage);
    if (before != null) {
      remove(before, stage + " has begun");
    }
    String prefix = stage.keyPrefix();
    StoreSession session = session(id, prefix);
    String scope = CheckpointScopes.scope(joins.call(), stage);
    clients.put(
        id, new Client(stage, sender, prefix, null, scope, session, joins, new HashMap<>()));
    if (!joins.group().isEmpty()) {
      endedTasks.joins(stage, joins.group());
    }
  }

  /**
   * Makes a further client of a task, for the checkpoints of its call. Those of another stage that
   * tried the same before are refused from now on.
   *
   * @throws IllegalStateException if there is no client {@code opened}, or a later attempt uses
   *     these checkpoints
   */
  synchronized void openCheckpoints(UUID id, UUID opened) {
    Client owner = clients.get(opened);
    if (owner == null) {
      throw new IllegalStateException(OVER);
    }
    String scope = owner.scope();
    StoreSession session = checkpoints.open(scope, owner.stage(), prefix -> session(id, prefix));
    drop(client -> client.scope().equals(scope) && client.stage().isBefore(owner.stage()));
    clients.put(
        id,
        new Client(
            owner.stage(),
            owner.address(),
            owner.keyPrefix(),
            owner.run(),
            scope,
            session,
            null,
            new HashMap<>()));
  }

  /** Begins a run, whose replicas may now become clients. */
  synchronized void beginRun(String run) {
    runs.begin(run);
  }

  /**
   * Makes a replica a client of its run. Its earlier incarnations are refused from now on.
   *
   * @throws IllegalStateException if the run is over, or a later incarnation has begun
   */
  synchronized void openRun(UUID id, RunRequest replica, RpcAddress sender) {
    runs.enter(replica);
    Predicate<Client> earlier = client -> client.run() != null && client.run().precedes(replica);
    clients.forEach(
        (each, client) -> {
          if (earlier.test(client)) {
            // Others may wait for it in a group, to which it can say nothing any more.
            publishWills(client);
            String reason = RunFence.over(client.run(), replica);
            fenced.put(each, new Refusal(replica.run(), reason));
          }
        });
    drop(earlier);
    String scope = CheckpointScopes.scope("", replica.stage());
    String prefix = RunKeys.prefix(replica.run());
    StoreSession session = session(id, prefix);
    clients.put(
        id,
        new Client(
            replica.stage(), sender, prefix, replica, scope, session, null, new HashMap<>()));
  }

  /**
   * Returns the replica that a client is.
   *
   * @throws StoreException if it is none, or none any more
   */
  synchronized RunRequest replica(UUID id) {
    require(id);
    RunRequest run = clients.get(id).run();
    if (run == null) {
      throw new StoreException("this client is no replica of a run");
    }
    return run;
  }

  /** Removes the keys and clients of a run, and refuses its replicas from now on. */
  synchronized void endRun(String run) {
    runs.end(run);
    drop(client -> client.run() != null && client.run().run().equals(run));
    fenced.values().removeIf(refusal -> refusal.run().equals(run));
    table.removePrefix(RunKeys.prefix(run), "run " + run + " has ended");
  }

  /**
   * Does nothing for a client.
   *
   * @throws StoreException saying why {@code id} is no client any more
   */
  synchronized void require(UUID id) {
    if (!clients.containsKey(id)) {
      throw new StoreException(refusal(id));
    }
  }

  /** Returns why a client has been removed. */
  String refusal(UUID id) {
    Refusal refusal = fenced.get(id);
    return refusal == null ? OVER : refusal.reason();
  }

  private StoreSession session(UUID id, String keyPrefix) {
    uploads.open(id);
    return new StoreSession(
        table,
        keyPrefix,
        largeValues,
        reference -> uploads.take(id, StoreMessages.upload(ByteBuffer.wrap(reference))));
  }

  /** Returns what answers a client's requests; null if it is none any more. */
  synchronized StoreSession session(UUID id) {
    Client client = clients.get(id);
    return client == null ? null : client.session();
  }

  /** Keeps what to publish in a group if the client is lost; nothing if it is empty. */
  synchronized void keepWill(UUID id, String group, ByteBuffer record) {
    Client client = clients.get(id);
    if (client == null) {
      return;
    }
    if (record.hasRemaining()) {
      byte[] bytes = new byte[record.remaining()];
      record.get(bytes);
      client.wills().put(group, FailureCodec.decode(bytes));
      endedTasks.made(client.stage(), group);
    } else {
      client.wills().remove(group);
    }
  }

  /** Fails all tasks of the client's stage that are in a group, unless the stage is over. */
  synchronized void tearDown(UUID id, long patienceMillis, String reason) {
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

  /** Closes a client that is done. */
  void close(UUID id) {
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

  /** Closes the clients of an executor that is lost, and publishes what they have left word of. */
  synchronized void disconnected(RpcAddress address) {
    for (Client client : clients.values()) {
      if (address.equals(client.address())) {
        JoinRequest joins = client.joins();
        if (joins != null && endedTasks.isAwaited(client.stage(), joins.group())) {
          failRendezvous(client.stage(), joins.group(), joins.ifLost());
        }
        publishWills(client);
      }
    }
    drop(client -> address.equals(client.address()));
  }

  private void publishWills(Client client) {
    Store store = store(client.keyPrefix());
    client
        .wills()
        .forEach(
            (group, failure) -> {
              log(group, failure, "{} of group {} was lost", failure.where(), group);
              new PublishedFailure(store.withPrefix(group)).offer(failure);
            });
  }

  /** Reports to the ranks of a group that is not made yet that one of them will not come. */
  private void failRendezvous(StageAttempt stage, String group, Failure failure) {
    Store store = store(stage.keyPrefix());
    if (FailedRendezvous.publish(store.withPrefix(group), failure)) {
      log(
          group,
          failure,
          "Group {} is not made, because {} {}",
          group,
          failure.where(),
          failure.kind().verb());
    }
  }

  private static void log(String group, Failure failure, String format, Object... arguments) {
    LogContext.of(group, failure.rank()).run(() -> LOG.info(format, arguments));
  }

  /** Records that a task has ended, well or not. Whoever waits for its rank waits in vain. */
  synchronized void taskEnded(StageAttempt stage, Failure failure) {
    if (!attempts.isOver(stage)) {
      endedTasks.ended(stage, failure);
    }
  }

  /** Removes the keys and clients of a stage that has ended, and refuses its tasks from now on. */
  synchronized void stageOver(StageAttempt stage) {
    remove(stage, stage + " has ended");
    attempts.end(stage);
    tearDown.ended(stage);
  }

  private void remove(StageAttempt stage, String reason) {
    // Replicas go on: those of a stage's attempt that has failed, too.
    drop(client -> client.run() == null && client.stage().equals(stage));
    endedTasks.over(stage);
    long removed = table.removePrefix(stage.keyPrefix(), reason);
    LOG.debug("Removed {} keys, because {}", removed, reason);
  }

  private void drop(Predicate<Client> which) {
    for (Iterator<Map.Entry<UUID, Client>> all = clients.entrySet().iterator(); all.hasNext(); ) {
      Map.Entry<UUID, Client> each = all.next();
      if (which.test(each.getValue())) {
        all.remove();
        close(each.getKey(), each.getValue());
      }
    }
  }

  /** Returns the keys with a prefix, that of a stage or a run. */
  Store store(String keyPrefix) {
    return new TableStore(table, "the driver's store", STORE_TIMEOUT)
        .withPrefix(keyPrefix.replaceAll("/$", ""));
  }

  /**
   * Returns the worlds that there are, each with its number of ranks; groups made from them are
   * left out.
   */
  synchronized Map<World, Integer> worlds() {
    Map<World, Integer> worlds = new LinkedHashMap<>();
    for (Client client : clients.values()) {
      for (String group : client.wills().keySet()) {
        if (client.wills().keySet().stream().noneMatch(each -> group.startsWith(each + "/"))) {
          worlds.merge(new World(client.stage(), client.keyPrefix(), group), 1, Integer::sum);
        }
      }
    }
    return worlds;
  }

  /** Returns the number of clients of all stages and runs. */
  synchronized int count() {
    return clients.size();
  }
}
