package org.sparkcollectives.spark;

import java.time.Duration;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.apache.spark.SparkEnv;
import org.apache.spark.rpc.RpcEndpointNotFoundException;
import org.apache.spark.rpc.RpcEndpointRef;
import org.apache.spark.rpc.RpcTimeout;
import org.apache.spark.util.RpcUtils;
import org.apache.spark.util.ThreadUtils;
import org.sparkcollectives.Failure;
import org.sparkcollectives.recorder.FlightDump;
import org.sparkcollectives.store.RemoteStore;
import org.sparkcollectives.store.Store;
import org.sparkcollectives.store.StoreConnectionException;
import org.sparkcollectives.store.StoreException;
import org.sparkcollectives.watchdog.FailureCodec;
import scala.concurrent.duration.FiniteDuration;
import scala.reflect.ClassTag;
import scala.reflect.ClassTag$;

/** A task's handle on the driver's store, over Spark's own RPC. */
final class DriverStoreClient extends RemoteStore {

  /** The store has its own deadlines; Spark's would only cut off a watch that waits for long. */
  private static final RpcTimeout NO_TIMEOUT =
      new RpcTimeout(new FiniteDuration(365, TimeUnit.DAYS), "spark.collectives.store.timeout");

  private static final ClassTag<Object> ANY = ClassTag$.MODULE$.apply(Object.class);

  /** Larger ones can end a dispatcher thread of the driver. */
  private static final int MAX_REQUEST_BYTES = 128 << 20;

  private final SparkEnv env;
  private final RpcEndpointRef driver;
  private final StageAttempt stage;
  private final UUID session = UUID.randomUUID();
  private volatile boolean closed;
  private DriverStoreClient checkpoints;

  private DriverStoreClient(
      SparkEnv env, RpcEndpointRef driver, StageAttempt stage, Duration timeout) {
    super("The driver's store at " + driver.address(), timeout);
    this.env = env;
    this.driver = driver;
    this.stage = stage;
  }

  /**
   * Connects to the driver's store; null if there is none. Blocks for one round trip, or two.
   *
   * @throws StoreException if a later attempt of the stage has begun
   */
  static DriverStoreClient connect(SparkEnv env, JoinRequest request, Duration timeout) {
    RpcEndpointRef driver;
    try {
      driver = RpcUtils.makeDriverRef(DriverStore.ENDPOINT, env.conf(), env.rpcEnv());
    } catch (RuntimeException e) {
      throw e;
    } catch (Exception e) { // makeDriverRef throws Spark's checked exceptions unannounced.
      if (isNotFound(e)) {
        return null;
      }
      throw new StoreConnectionException("The driver's store cannot be reached: " + e, e);
    }
    DriverStoreClient client = new DriverStoreClient(env, driver, request.stage(), timeout);
    client.askNow(StoreMessages.open(client.session, request));
    return client;
  }

  private void askNow(byte[] message) {
    StoreMessages.unwrap((byte[]) driver.askSync(message, ANY));
  }

  /**
   * The part of the driver's store that stays for later attempts of the same call. Blocks for a
   * round trip the first time. Closed with this client.
   *
   * @throws StoreException if a later attempt uses it
   */
  synchronized Store checkpoints() {
    if (checkpoints == null) {
      DriverStoreClient client = new DriverStoreClient(env, driver, stage, timeout());
      askNow(StoreMessages.checkpoints(client.session, session));
      checkpoints = client;
    }
    return checkpoints;
  }

  private synchronized void closeCheckpoints() {
    if (checkpoints != null) {
      checkpoints.close();
    }
  }

  private static boolean isNotFound(Throwable cause) {
    for (Throwable each = cause; each != null; each = each.getCause()) {
      if (each instanceof RpcEndpointNotFoundException) {
        return true;
      }
    }
    return false;
  }

  @Override
  protected CompletableFuture<byte[]> ask(byte[] request) {
    CompletableFuture<byte[]> reply = new CompletableFuture<>();
    if (request.length > MAX_REQUEST_BYTES) {
      reply.completeExceptionally(
          new StoreException(
              "The driver's store takes values of up to "
                  + (MAX_REQUEST_BYTES >> 20)
                  + " MiB, not "
                  + (request.length >> 20)
                  + " MiB; write it to a file system and store the path"));
      return reply;
    }
    driver
        .ask(StoreMessages.call(session, request), NO_TIMEOUT, ANY)
        .onComplete(
            result -> {
              try {
                if (result.isSuccess()) {
                  reply.complete(StoreMessages.unwrap((byte[]) result.get()));
                } else {
                  Throwable cause = result.failed().get();
                  reply.completeExceptionally(
                      new StoreConnectionException(
                          "The driver's store at " + driver.address() + " was lost: " + cause,
                          cause));
                }
              } catch (StoreException e) {
                reply.completeExceptionally(e);
              }
              return null;
            },
            ThreadUtils.sameThread());
    return reply;
  }

  @Override
  protected CompletableFuture<byte[]> fetch(byte[] reference) {
    return CompletableFuture.supplyAsync(
        () -> BlockValues.fetch(env.blockManager(), reference),
        body -> {
          Thread thread = new Thread(body, "collectives-block-fetch");
          thread.setDaemon(true);
          thread.start();
        });
  }

  /** Leaves with the driver what it shall publish in a group if this client is lost. */
  void leaveWill(String group, Failure ifLost) {
    driver.ask(StoreMessages.will(session, group, FailureCodec.encode(ifLost)), NO_TIMEOUT, ANY);
  }

  /** Sends a dump of the rank's flight recorder to the driver. */
  void handIn(String occasion, FlightDump dump) {
    byte[] packed = DumpCollection.pack(dump);
    driver.ask(StoreMessages.dump(session, stage, occasion, packed), NO_TIMEOUT, ANY);
  }

  /** Has the driver fail all tasks of the stage that do not end by themselves in time. */
  void tearDown(String reason, Duration patience) {
    if (!closed) {
      driver.ask(StoreMessages.tearDown(session, patience, reason), NO_TIMEOUT, ANY);
    }
  }

  /** Takes it back. */
  void revokeWill(String group) {
    if (!closed) {
      driver.ask(StoreMessages.will(session, group, new byte[0]), NO_TIMEOUT, ANY);
    }
  }

  @Override
  protected void disconnect() {
    closed = true;
    closeCheckpoints();
    driver.ask(StoreMessages.close(session), NO_TIMEOUT, ANY);
  }
}
