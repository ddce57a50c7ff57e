package org.sparkcollectives.spark.internal.executor;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.UUID;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.RejectedExecutionException;
import java.util.function.BooleanSupplier;
import org.apache.spark.SparkEnv;
import org.sparkcollectives.Failure;
import org.sparkcollectives.FlightDump;
import org.sparkcollectives.spark.config.SparkPluginConfiguration;
import org.sparkcollectives.spark.internal.protocol.DriverThreads;
import org.sparkcollectives.spark.internal.protocol.JoinRequest;
import org.sparkcollectives.spark.internal.protocol.PackedDump;
import org.sparkcollectives.spark.internal.protocol.Quorum;
import org.sparkcollectives.spark.internal.protocol.QuorumRequest;
import org.sparkcollectives.spark.internal.protocol.RunRequest;
import org.sparkcollectives.spark.internal.protocol.StageAttempt;
import org.sparkcollectives.spark.internal.protocol.StoreMessages;
import org.sparkcollectives.spark.internal.protocol.ValueReference;
import org.sparkcollectives.spi.failure.FailureCodec;
import org.sparkcollectives.store.BoundedStore;
import org.sparkcollectives.store.Deadline;
import org.sparkcollectives.store.RemoteStore;
import org.sparkcollectives.store.Store;
import org.sparkcollectives.store.StoreException;

/** A task's handle on the driver's store, over Spark's own RPC. */
public final class DriverStoreClient extends RemoteStore implements BoundedStore {

  /** The advice for a user whose driver has no store. */
  static final String INSTALL =
      "Call SparkCollectives.install(sparkContext) on the driver, or set"
          + " spark.plugins=org.sparkcollectives.spark.CollectivesPlugin";

  /** The limit of keys and small values in a request. */
  private static final int MAX_REQUEST_BYTES = 16 << 20;

  /** The bytes of small values in a request beyond which its larger ones are sent apart. */
  private static final int MAX_INLINE_BYTES = 1 << 20;

  private static final int TINY_BYTES = 4 << 10;

  /** The number of large values that are fetched at once, for all threads of the task together. */
  private static final int FETCHERS = 4;

  private final DriverLink driver;
  private final StageAttempt stage;
  private final UUID session = UUID.randomUUID();
  private final ExecutorService fetching = DriverThreads.pool("collectives-block-fetch", FETCHERS);
  private volatile boolean closed;
  private CompletableFuture<DriverStoreClient> checkpoints;

  private DriverStoreClient(DriverLink driver, StageAttempt stage, Duration timeout) {
    super("The driver's store at " + driver.address(), timeout);
    this.driver = driver;
    this.stage = stage;
  }

  /**
   * Connects to the driver's store, or returns null if there is none. Blocks for one round trip, or
   * two.
   *
   * @throws StoreException if a later attempt of the stage has begun
   */
  public static DriverStoreClient connect(SparkEnv env, JoinRequest request, Duration timeout) {
    DriverLink driver = SparkDriverLink.find(env);
    return driver == null ? null : connect(driver, request, timeout);
  }

  /** Connects through a link to a driver that has a store. Blocks for a round trip. */
  public static DriverStoreClient connect(
      DriverLink driver, JoinRequest request, Duration timeout) {
    DriverStoreClient client = new DriverStoreClient(driver, request.stage(), timeout);
    driver.ask(StoreMessages.open(client.session, request), timeout);
    return client;
  }

  /**
   * Connects a replica to the keys of its run, or returns null if the driver has no store. Blocks
   * for one round trip, or two. Earlier incarnations of the replica are refused from now on.
   *
   * @throws StoreException if the run is over, or a later incarnation has begun
   */
  public static DriverStoreClient connect(SparkEnv env, RunRequest request, Duration timeout) {
    DriverLink driver = SparkDriverLink.find(env);
    return driver == null ? null : connect(driver, request, timeout);
  }

  /** Connects a replica through a link to a driver that has a store. Blocks for a round trip. */
  public static DriverStoreClient connect(DriverLink driver, RunRequest request, Duration timeout) {
    DriverStoreClient client = new DriverStoreClient(driver, request.stage(), timeout);
    driver.ask(StoreMessages.run(client.session, request), timeout);
    return client;
  }

  /**
   * Asks the lighthouse of a replica's run for the quorum of its next step. Does not block; the
   * future completes when the quorum is decided, for which there is no limit.
   */
  public CompletableFuture<Quorum> askQuorum(QuorumRequest request) {
    return driver.ask(StoreMessages.quorum(session, request)).thenApply(Quorum::decode);
  }

  /**
   * Returns the part of the driver's store that later attempts of the same call still see. Blocks
   * for a round trip the first time, until the deadline or this client's timeout at the most.
   * Closed with this client.
   *
   * @throws StoreException if a later attempt uses it
   */
  Store checkpoints(Deadline deadline) {
    return driver.reply(openCheckpoints(), Deadline.smaller(deadline.left(), timeout()));
  }

  private synchronized CompletableFuture<DriverStoreClient> openCheckpoints() {
    if (checkpoints == null || checkpoints.isCompletedExceptionally()) {
      DriverStoreClient client = new DriverStoreClient(driver, stage, timeout());
      checkpoints =
          driver
              .ask(StoreMessages.checkpoints(client.session, session))
              .thenApply(opened -> client);
    }
    return checkpoints;
  }

  private synchronized void closeCheckpoints() {
    if (checkpoints != null) {
      checkpoints.thenAccept(Store::close);
    }
  }

  @Override
  public long freeBytes(Duration atMost) {
    return ByteBuffer.wrap(driver.ask(StoreMessages.room(session), atMost)).getLong();
  }

  @Override
  public String limit() {
    return SparkPluginConfiguration.STORE_MAX_SIZE.key();
  }

  @Override
  protected CompletableFuture<byte[]> ask(byte[] request) {
    if (request.length > MAX_REQUEST_BYTES) {
      return CompletableFuture.failedFuture(
          new StoreException(
              "The driver's store takes requests of up to "
                  + MAX_REQUEST_BYTES
                  + " bytes of keys and small values, not "
                  + request.length
                  + "; give it fewer keys at once"));
    }
    return driver.ask(StoreMessages.call(session, request));
  }

  @Override
  protected boolean travelsApart(int bytes, long before) {
    return bytes > ValueReference.INLINE_BYTES
        || (bytes > TINY_BYTES && before + bytes > MAX_INLINE_BYTES);
  }

  /** Uploads a value in pieces; each is sent when the driver permits it. */
  @Override
  protected CompletableFuture<byte[]> upload(byte[] value, BooleanSupplier wanted) {
    return driver
        .ask(StoreMessages.upload(session, value.length))
        .thenCompose(
            begun -> {
              ByteBuffer reply = ByteBuffer.wrap(begun);
              long upload = StoreMessages.upload(reply);
              return sendPieces(upload, value, 0, StoreMessages.size(reply), wanted);
            });
  }

  private CompletableFuture<byte[]> sendPieces(
      long upload, byte[] value, int offset, int pieceBytes, BooleanSupplier wanted) {
    byte[] reference = ByteBuffer.allocate(Long.BYTES).putLong(upload).array();
    if (offset == value.length) {
      return CompletableFuture.completedFuture(reference);
    }
    if (!wanted.getAsBoolean()) {
      discard(reference);
      return CompletableFuture.failedFuture(new CancellationException("nobody waits for it"));
    }
    int length = Math.min(pieceBytes, value.length - offset);
    return driver
        .ask(StoreMessages.piece(session, upload, value, offset, length))
        .thenCompose(written -> sendPieces(upload, value, offset + length, pieceBytes, wanted));
  }

  @Override
  protected void discard(byte[] reference) {
    if (!closed) {
      long upload = StoreMessages.upload(ByteBuffer.wrap(reference));
      driver.ask(StoreMessages.discard(session, upload));
    }
  }

  @Override
  protected CompletableFuture<byte[]> fetch(byte[] reference) {
    try {
      return CompletableFuture.supplyAsync(() -> driver.fetch(reference), fetching);
    } catch (RejectedExecutionException e) {
      return CompletableFuture.failedFuture(new CancellationException("the client is closed"));
    }
  }

  /**
   * Leaves a failure record with the driver, which publishes it in a group if this client is lost.
   */
  public void leaveWill(String group, Failure ifLost) {
    driver.ask(StoreMessages.will(session, group, FailureCodec.encode(ifLost)));
  }

  /** Asks for the rack of a host; the answer is empty if that is unknown. Does not block. */
  public CompletableFuture<String> rack(String host) {
    return driver
        .ask(StoreMessages.rack(session, host))
        .thenApply(rack -> new String(rack, StandardCharsets.UTF_8));
  }

  /** Returns the way to the driver, which this client does not close. */
  DriverLink link() {
    return driver;
  }

  /** Sends a dump of the rank's flight recorder to the driver. */
  void handIn(String occasion, FlightDump dump) {
    byte[] packed = PackedDump.pack(dump);
    driver.ask(StoreMessages.dump(session, stage, occasion, packed));
  }

  /** Asks the driver to fail all tasks of the stage that do not end by themselves in time. */
  public void tearDown(String reason, Duration patience) {
    if (!closed) {
      driver.ask(StoreMessages.tearDown(session, patience, reason));
    }
  }

  /** Withdraws the record from {@link #leaveWill}. */
  public void revokeWill(String group) {
    if (!closed) {
      driver.ask(StoreMessages.will(session, group, new byte[0]));
    }
  }

  @Override
  protected void disconnect() {
    closed = true;
    fetching.shutdown();
    closeCheckpoints();
    driver.ask(StoreMessages.close(session));
  }
}
