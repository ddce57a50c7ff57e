package org.sparkcollectives.internal.failure;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.sparkcollectives.FlightDump;
import org.sparkcollectives.FlightRecord;
import org.sparkcollectives.FlightRecorder;
import org.sparkcollectives.GroupStatus;
import org.sparkcollectives.internal.liveness.BackgroundCalls;
import org.sparkcollectives.internal.liveness.RankHost;
import org.sparkcollectives.internal.recorder.GroupRecords;
import org.sparkcollectives.internal.recorder.RecordRing;
import org.sparkcollectives.internal.rendezvous.Membership;
import org.sparkcollectives.internal.transport.Endpoint;
import org.sparkcollectives.recorder.RankDump;
import org.sparkcollectives.spi.CollectivesConfiguration;
import org.sparkcollectives.spi.RankContext;
import org.sparkcollectives.spi.RankRequest;
import org.sparkcollectives.store.Store;

/**
 * Holds the flight recorder of one rank, over all its groups, and dumps it: once when the first of
 * the groups fails, and on every request. Dumps are made in the background.
 */
public final class RankDumps implements AutoCloseable {

  private static final Duration STORE_TIMEOUT = Duration.ofSeconds(5);
  private static final Duration CLOSE_TIMEOUT = Duration.ofSeconds(2);
  private static final Logger LOG = LoggerFactory.getLogger(RankDumps.class);

  private final RecordRing ring;
  private final Membership world;
  private final RankContext context;
  private final Store store;
  private final BackgroundCalls background;
  private final boolean hashes;
  private final AtomicBoolean failureDumped = new AtomicBoolean();

  /** Creates the recorder of a rank, with the world's part of the store. */
  public RankDumps(Membership world, Store store, RankHost host) {
    this.context = host.context();
    this.ring =
        new RecordRing(context.configuration().get(CollectivesConfiguration.FLIGHT_RECORDER_SIZE));
    this.hashes = context.configuration().get(CollectivesConfiguration.FLIGHT_RECORDER_HASHES);
    this.world = world;
    this.store = store.withTimeout(STORE_TIMEOUT);
    this.background = BackgroundCalls.of(host.background(), LOG, world.identity());
  }

  /** Begins to record a group of this rank, and dumps if it fails. */
  public GroupRecords join(Membership members, GroupState state) {
    if (context.configuration().get(CollectivesConfiguration.FLIGHT_RECORDER_DUMP_ON_FAILURE)) {
      state.onFailure(
          () -> {
            if (failureDumped.compareAndSet(false, true)) {
              dump("failure", state.exceptionFor("An operation").getMessage());
            }
          });
    }
    GroupRecords records =
        ring.join(
            members.name(),
            members.description(),
            members.endpoints().stream().map(Endpoint::rank).toList(),
            members.rank());
    state.onFailure(() -> records.failed(state.failure()));
    return records;
  }

  /** Returns the recorder as a user of one of the groups sees it. */
  public FlightRecorder of(GroupRecords group) {
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
      public void reset() {
        ring.reset();
      }

      @Override
      public void dumpAllRanks(String reason) {
        RankRequest.make(store, RankRequest.Kind.DUMP, reason);
      }
    };
  }

  /** Returns whether hashes of inputs and outputs are recorded. */
  public boolean recordsHashes() {
    return hashes;
  }

  private FlightDump snapshot(String reason) {
    List<FlightRecord> records = ring.records();
    return new RankDump(
        world.self().location(), reason, RecordRing.nowNanos(), ring.groups(), records);
  }

  /** Submits a dump of the recorder. Does not wait for it. */
  void dump(String occasion, String reason) {
    background.run(() -> context.dumped(world.name(), occasion, snapshot(reason)));
  }

  /** Returns the groups of this rank. */
  List<GroupStatus> groups() {
    return ring.groups();
  }

  /** Waits for two seconds at the most until the dumps that were begun are submitted. */
  @Override
  public void close() {
    if (!background.await(CLOSE_TIMEOUT)) {
      LOG.warn("{} could not submit its dump within {}", world, CLOSE_TIMEOUT);
    }
  }
}
