package org.sparkcollectives.engine;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.sparkcollectives.CollectivesConfiguration;
import org.sparkcollectives.RankContext;
import org.sparkcollectives.recorder.DumpRequest;
import org.sparkcollectives.recorder.FlightDump;
import org.sparkcollectives.recorder.FlightRecord;
import org.sparkcollectives.recorder.FlightRecorder;
import org.sparkcollectives.recorder.GroupRecords;
import org.sparkcollectives.recorder.RecordRing;
import org.sparkcollectives.store.Store;
import org.sparkcollectives.store.WatchableStore;
import org.sparkcollectives.transport.Endpoint;
import org.sparkcollectives.watchdog.BackgroundCalls;
import org.sparkcollectives.watchdog.GroupFailure;

/**
 * The flight recorder of one rank, over all its groups, and when it is dumped: once when the first
 * of the groups fails, and whenever the store has a new {@link DumpRequest}.
 *
 * <p>Dumps are made on the given executor, so a rank that is stuck in its own code dumps too.
 */
final class RankDumps implements AutoCloseable {

  private static final Duration STORE_TIMEOUT = Duration.ofSeconds(5);
  private static final Duration CLOSE_TIMEOUT = Duration.ofSeconds(2);
  private static final long POLL_NANOS = TimeUnit.SECONDS.toNanos(1);
  private static final Logger LOG = LoggerFactory.getLogger(RankDumps.class);

  private final RecordRing ring;
  private final Membership world;
  private final RankContext context;
  private final Store store;
  private final BackgroundCalls background;
  private final AtomicBoolean failureDumped = new AtomicBoolean();
  private final AtomicBoolean polling = new AtomicBoolean();
  private volatile long nextRequest = 1;
  private volatile long polledNanos = System.nanoTime();
  private volatile CompletableFuture<byte[]> watch;
  private volatile boolean closed;

  /** With the world's part of the store. Begins to listen for requests, where it can be watched. */
  RankDumps(Membership world, Store store, RankContext context, Executor executor) {
    this.ring =
        new RecordRing(context.configuration().get(CollectivesConfiguration.FLIGHT_RECORDER_SIZE));
    this.world = world;
    this.context = context;
    this.store = store.withTimeout(STORE_TIMEOUT);
    this.background = new BackgroundCalls(executor, LOG, world);
    awaitRequest();
  }

  /** Begins to record a group of this rank, and dumps if it fails. */
  GroupRecords join(Membership members, GroupFailure failure) {
    if (context.configuration().get(CollectivesConfiguration.FLIGHT_RECORDER_DUMP_ON_FAILURE)) {
      failure.onFailure(
          () -> {
            if (failureDumped.compareAndSet(false, true)) {
              dump("failure", failure.exceptionFor("An operation").getMessage());
            }
          });
    }
    return ring.join(
        members.name(),
        members.description(),
        members.endpoints().stream().map(Endpoint::rank).toList());
  }

  /** The recorder as a user of one of the groups sees it. */
  FlightRecorder of(GroupRecords group) {
    return new FlightRecorder() {
      @Override
      public List<FlightRecord> records() {
        return group.records();
      }

      @Override
      public FlightDump dump() {
        return snapshot("asked for by this rank");
      }

      @Override
      public void dumpAllRanks(String reason) {
        DumpRequest.make(store, reason);
      }
    };
  }

  private FlightDump snapshot(String reason) {
    List<FlightRecord> records = ring.records();
    return new FlightDump(
        world.self().rank(),
        world.self().host(),
        world.self().executorId(),
        world.self().taskAttemptId(),
        reason,
        RecordRing.nowNanos(),
        ring.groups(),
        records);
  }

  private void dump(String occasion, String reason) {
    background.run(() -> context.dumped(world.name(), occasion, snapshot(reason)));
  }

  private void awaitRequest() {
    if (!closed && store instanceof WatchableStore watchable) {
      CompletableFuture<byte[]> next = watchable.watch(DumpRequest.key(nextRequest));
      watch = next;
      next.thenAccept(this::requested);
      if (closed) {
        next.cancel(false);
      }
    }
  }

  private void requested(byte[] reason) {
    long number = nextRequest;
    nextRequest = number + 1;
    dump(DumpRequest.occasion(number), new String(reason, StandardCharsets.UTF_8));
    // Watching may take a call of the store, which the thread that brings the news must not make.
    background.run(this::awaitRequest);
  }

  /** Looks for a request now and then, if the store cannot be watched. Does not block. */
  void poll() {
    if (watch != null
        || System.nanoTime() - polledNanos < POLL_NANOS
        || !polling.compareAndSet(false, true)) {
      return;
    }
    background.run(
        () -> {
          try {
            String key = DumpRequest.key(nextRequest);
            if (store.check(List.of(key))) {
              requested(store.get(key));
            }
          } finally {
            polledNanos = System.nanoTime();
            polling.set(false);
          }
        });
  }

  /** Stops listening, and waits for two seconds at the most until what was begun is handed in. */
  @Override
  public void close() {
    closed = true;
    CompletableFuture<byte[]> last = watch;
    if (last != null) {
      last.cancel(false);
    }
    if (!background.await(CLOSE_TIMEOUT)) {
      LOG.warn("{} could not hand in its dump within {}", world, CLOSE_TIMEOUT);
    }
  }
}
