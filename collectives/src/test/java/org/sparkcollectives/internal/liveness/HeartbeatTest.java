package org.sparkcollectives.internal.liveness;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.sparkcollectives.spi.RankContext;
import org.sparkcollectives.store.HashStore;
import org.sparkcollectives.store.Store;
import org.sparkcollectives.store.StoreConnectionException;

/** Tests a ring of JVMs whose time is the test's: everything happens on the test's thread. */
class HeartbeatTest {

  private static final HeartbeatOptions OPTIONS = new HeartbeatOptions(Duration.ofSeconds(10));

  private final HashStore store = new HashStore();
  private final FakeTime time = new FakeTime(Long.MAX_VALUE - 5);
  private final List<Jvm> jvms = new ArrayList<>();
  private boolean storeAnswers = true;
  private int threadsLeft = Integer.MAX_VALUE;

  /** A JVM with one rank, or a further rank of it. */
  private final class Jvm implements Heartbeat.Listener {

    private final HeartbeatElection election;
    private final Heartbeat heartbeat;
    private final List<Integer> unresponsive = new ArrayList<>();
    private Duration storeAge = Duration.ZERO;

    private Jvm(int number, int size, HeartbeatElection election, Store store) {
      this.election = election;
      this.heartbeat =
          new Heartbeat(
              store,
              new Heartbeat.Position(number, size, election),
              OPTIONS,
              this,
              new RankHost(RankContext.process(), HeartbeatTest.this::run, time));
    }

    @Override
    public void unresponsive(int node, Duration age) {
      unresponsive.add(node);
    }

    @Override
    public void storeUnresponsive(Duration age) {
      storeAge = age;
    }
  }

  private void run(Runnable action) {
    if (threadsLeft == 0) {
      throw new OutOfMemoryError("unable to create native thread: possibly out of memory");
    }
    threadsLeft--;
    action.run();
  }

  private List<Jvm> ring(int size, Store over) {
    for (int number = 0; number < size; number++) {
      jvms.add(new Jvm(number, size, new HeartbeatElection(), over));
    }
    return jvms;
  }

  @AfterEach
  void close() {
    jvms.forEach(each -> each.heartbeat.close());
    store.close();
  }

  /** Lets seconds pass, in which the JVMs that are awake poll ten times each second. */
  private void pass(int seconds, Jvm... awake) {
    for (int i = 0; i < seconds * 10; i++) {
      time.pass(Duration.ofMillis(100));
      for (Jvm each : awake) {
        each.heartbeat.poll();
      }
    }
  }

  @Test
  void whatNobodyOfTheRingHasWrittenIsIgnored() {
    store.set("heartbeat/unresponsive/0", new byte[] {1});
    store.set("heartbeat/unresponsive/1", ByteBuffer.allocate(12).putInt(3).array());
    store.set("heartbeat/unresponsive/2", ByteBuffer.allocate(12).putInt(-2).array());
    List<Jvm> ring = ring(3, store);
    store.set("heartbeat/beat/1", new byte[] {1, 2, 3});
    pass(11, ring.get(0), ring.get(2));
    assertThat(ring.get(0).unresponsive).containsExactly(1);
    assertThat(ring.get(2).unresponsive).containsExactly(1);
  }

  @Test
  void whoSendsNoHeartbeatIsFoundUnresponsiveWithinTheTimeoutByAll() {
    List<Jvm> ring = ring(3, store);
    pass(5, ring.get(0), ring.get(1), ring.get(2));
    pass(6, ring.get(0), ring.get(2));
    assertThat(ring.get(0).unresponsive).isEmpty();
    pass(4, ring.get(0), ring.get(2));
    assertThat(ring.get(0).unresponsive).containsExactly(1);
    assertThat(ring.get(2).unresponsive).containsExactly(1);
  }

  @Test
  void whoCouldOnceNotGetAThreadSendsItsNextHeartbeatAndHearsOfOthers() {
    List<Jvm> ring = ring(3, store);
    pass(2, ring.get(0), ring.get(1), ring.get(2));
    threadsLeft = 0;
    pass(2, ring.get(0), ring.get(1), ring.get(2));
    threadsLeft = Integer.MAX_VALUE;
    pass(30, ring.get(0), ring.get(1), ring.get(2));
    assertThat(ring).allSatisfy(jvm -> assertThat(jvm.unresponsive).isEmpty());
    // What is reported of another JVM while no thread is available is delivered once one is.
    threadsLeft = 0;
    store.set(
        "heartbeat/unresponsive/1", ByteBuffer.allocate(12).putInt(1).putLong(12_000).array());
    pass(1, ring.get(0), ring.get(2));
    assertThat(ring.get(0).unresponsive).isEmpty();
    threadsLeft = Integer.MAX_VALUE;
    pass(1, ring.get(0), ring.get(2));
    assertThat(ring.get(0).unresponsive).containsExactly(1);
    store.set(
        "heartbeat/unresponsive/2", ByteBuffer.allocate(12).putInt(2).putLong(12_000).array());
    pass(1, ring.get(0));
    assertThat(ring.get(0).unresponsive).containsExactly(1, 2);
  }

  @Test
  void whoHasNeverSentAHeartbeatIsFoundUnresponsiveToo() {
    List<Jvm> ring = ring(2, store);
    pass(10, ring.get(1));
    assertThat(ring.get(1).unresponsive).containsExactly(0);
  }

  @Test
  void whoSendsHeartbeatsIsNeverUnresponsive() {
    List<Jvm> ring = ring(2, store);
    pass(1_000, ring.get(0), ring.get(1));
    assertThat(ring.get(0).unresponsive).isEmpty();
    assertThat(ring.get(1).unresponsive).isEmpty();
  }

  @Test
  void anObserverThatWasStoppedItselfAccusesNobodyAndHearsThatItWasUnresponsive() {
    List<Jvm> ring = ring(2, store);
    pass(5, ring.get(0), ring.get(1));
    pass(60, ring.get(0));
    pass(3, ring.get(1), ring.get(0));
    assertThat(ring.get(0).unresponsive).containsExactly(1);
    assertThat(ring.get(1).unresponsive).containsExactly(1);
  }

  @Test
  void aHostThatSleepsAndAwakesMakesNobodyUnresponsive() {
    List<Jvm> ring = ring(3, store);
    pass(5, ring.get(0), ring.get(1), ring.get(2));
    for (int i = 0; i < 5; i++) {
      pass(60);
      pass(2, ring.get(2), ring.get(1), ring.get(0));
    }
    assertThat(ring).allSatisfy(each -> assertThat(each.unresponsive).isEmpty());
  }

  @Test
  void ofSeveralThatAreUnresponsiveEachIsFound() {
    List<Jvm> ring = ring(4, store);
    pass(5, ring.get(0), ring.get(1), ring.get(2), ring.get(3));
    pass(40, ring.get(3));
    assertThat(ring.get(3).unresponsive).containsExactly(2, 1, 0);
  }

  @Test
  void whoLeavesInGoodOrderIsNotUnresponsiveAndTheOneBeforeItIsObserved() {
    List<Jvm> ring = ring(3, store);
    pass(5, ring.get(0), ring.get(1), ring.get(2));
    ring.get(1).heartbeat.close();
    pass(30, ring.get(0), ring.get(2));
    assertThat(ring.get(2).unresponsive).isEmpty();
    pass(12, ring.get(2));
    assertThat(ring.get(2).unresponsive).containsExactly(0);
  }

  @Test
  void anotherRankOfTheJvmGoesOnWhereTheFirstLeaves() {
    List<Jvm> ring = ring(2, store);
    Jvm second = new Jvm(1, 2, ring.get(1).election, store);
    jvms.add(second);
    pass(5, ring.get(0), ring.get(1), second);
    ring.get(1).heartbeat.close();
    pass(30, ring.get(0), second);
    assertThat(ring.get(0).unresponsive).isEmpty();
    pass(12, second);
    assertThat(second.unresponsive).containsExactly(0);
  }

  /**
   * Returns a view of the store that answers nothing while the test says so, and cannot be watched.
   */
  private Store pausing(Store target) {
    return (Store)
        Proxy.newProxyInstance(
            HeartbeatTest.class.getClassLoader(),
            new Class<?>[] {Store.class},
            (proxy, method, arguments) -> {
              if (!storeAnswers && !method.getName().startsWith("with")) {
                throw new StoreConnectionException("no answer", null);
              }
              try {
                Object result = method.invoke(target, arguments);
                return result instanceof Store view ? pausing(view) : result;
              } catch (InvocationTargetException e) {
                throw e.getCause();
              }
            });
  }

  @Test
  void aStoreThatPausesMakesNobodyUnresponsiveButIsToldOfItself() {
    List<Jvm> ring = ring(2, pausing(store));
    pass(5, ring.get(0), ring.get(1));
    storeAnswers = false;
    pass(9, ring.get(0), ring.get(1));
    assertThat(ring.get(0).storeAge).isZero();
    pass(30, ring.get(0), ring.get(1));
    assertThat(ring.get(0).storeAge).isGreaterThan(Duration.ofSeconds(30));
    storeAnswers = true;
    pass(30, ring.get(0), ring.get(1));
    assertThat(ring).allSatisfy(each -> assertThat(each.unresponsive).isEmpty());
  }

  @Test
  void whoIsUnresponsiveIsHeardOfOverAStoreThatCannotBeWatched() {
    List<Jvm> ring = ring(3, pausing(store));
    pass(5, ring.get(0), ring.get(1), ring.get(2));
    pass(11, ring.get(0), ring.get(1));
    assertThat(ring.get(0).unresponsive).containsExactly(2);
    assertThat(ring.get(1).unresponsive).containsExactly(2);
  }

  @Test
  void anIntervalIsATenthOfTheTimeout() {
    assertThat(OPTIONS.interval()).isEqualTo(Duration.ofSeconds(1));
    assertThat(OPTIONS.isOn()).isTrue();
    assertThat(new HeartbeatOptions(Duration.ZERO).isOn()).isFalse();
  }
}
