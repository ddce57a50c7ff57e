package org.sparkcollectives.internal.engine;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.sparkcollectives.ErrorHandling;
import org.sparkcollectives.internal.liveness.HeartbeatElection;
import org.sparkcollectives.internal.liveness.RankHeartbeat;
import org.sparkcollectives.internal.liveness.RankHost;
import org.sparkcollectives.internal.rendezvous.Membership;
import org.sparkcollectives.internal.transport.Endpoint;
import org.sparkcollectives.internal.transport.NodeAddress;
import org.sparkcollectives.internal.transport.Place;
import org.sparkcollectives.internal.transport.PolledMemory;
import org.sparkcollectives.internal.transport.tcp.SocketWait;
import org.sparkcollectives.internal.work.GroupMonitor;
import org.sparkcollectives.spi.RankContext;
import org.sparkcollectives.store.HashStore;

/** Tests how a rank that shares its processor with others waits for shared memory. */
class WaiterTest {

  private final ExecutorService executor = Executors.newCachedThreadPool();
  private final HashStore store = new HashStore();
  private GroupMonitor monitor;

  @BeforeEach
  void begin() {
    Endpoint self =
        new Endpoint(
            0, new NodeAddress("node", new Place("host", 2, true), "127.0.0.1", 1, "executor"), -1);
    Membership alone = Membership.withoutPeers("group", "a test", self, 1);
    RankHost host = new RankHost(RankContext.process(), executor);
    RankHeartbeat none = new RankHeartbeat(alone, store, false, new HeartbeatElection(), host);
    monitor = new GroupMonitor(alone, store, ErrorHandling.CLEAN_UP_ONLY, none, host);
  }

  @AfterEach
  void end() {
    monitor.close();
    store.close();
    executor.shutdownNow();
  }

  /** Memory for which the rank waits, and which counts how often that is announced. */
  private static final class CountedSleeps implements PolledMemory {
    private int announced;

    @Override
    public boolean isAwaited() {
      return true;
    }

    @Override
    public boolean announceSleep() {
      announced++;
      return false;
    }

    @Override
    public void retractSleep() {}
  }

  @Test
  void aRankThatDoesNotSpinAsksToBeWokenBeforeItsFirstSleep() {
    Waiter waiter = Waiter.of(monitor, Duration.ZERO);
    try (SocketWait sockets = waiter.sockets()) {
      CountedSleeps memory = new CountedSleeps();
      sockets.register(memory);
      sockets.awake();
      sockets.announce();
      assertThat(memory.announced).isEqualTo(1);
    }
  }

  @Test
  void aRankThatSpinsPollsFirst() {
    Waiter waiter = Waiter.of(monitor, Duration.ofNanos(1));
    try (SocketWait sockets = waiter.sockets()) {
      CountedSleeps memory = new CountedSleeps();
      sockets.register(memory);
      int before;
      long start;
      do {
        // Repeated where this thread did not run for as long as a rank polls.
        before = memory.announced;
        start = System.nanoTime();
        sockets.awake();
        sockets.announce();
      } while (System.nanoTime() - start > Duration.ofNanos(800_000).toNanos());
      assertThat(memory.announced).isEqualTo(before);
    }
  }
}
