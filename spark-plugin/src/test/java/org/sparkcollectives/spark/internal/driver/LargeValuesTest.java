package org.sparkcollectives.spark.internal.driver;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Future;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;
import org.sparkcollectives.Failure;
import org.sparkcollectives.RankLocation;
import org.sparkcollectives.spark.internal.executor.DriverStoreClient;
import org.sparkcollectives.spark.internal.protocol.StageAttempt;
import org.sparkcollectives.store.Store;
import org.sparkcollectives.store.StoreException;
import org.sparkcollectives.store.StoreLease;
import org.sparkcollectives.testing.Eventually;
import org.sparkcollectives.testing.LeakCheck;
import org.sparkcollectives.testing.Threads;

/** Large values in the driver's store: bounded memory, nothing left, and nobody waits for them. */
@ExtendWith(LeakCheck.class)
@Timeout(120)
class LargeValuesTest {

  private static final StageAttempt STAGE = new StageAttempt(3, 0);
  private static final int LARGE = 3 * TestDriver.IN_FLIGHT + 12345;

  private final Threads threads = new Threads();
  private TestDriver driver = new TestDriver("256m");

  @AfterEach
  void nothingIsLeft() {
    driver.blocks().open();
    threads.close();
    driver.store().stageEnded(STAGE, false);
    Eventually.holds(
        () -> driver.blocks().values() == 0 && driver.store().uploads().inFlight() == 0,
        () ->
            driver.blocks().values()
                + " values and "
                + driver.store().uploads().inFlight()
                + " bytes in flight are left");
    assertThat(driver.store().values().kept()).isZero();
    driver.close();
  }

  private static byte[] value(long seed) {
    byte[] bytes = new byte[LARGE];
    new Random(seed).nextBytes(bytes);
    return bytes;
  }

  private void assertKept(int values) {
    assertThat(driver.blocks().values()).isEqualTo(values);
    assertThat(driver.store().values().kept()).isEqualTo((long) values * LARGE);
  }

  @Test
  void manyRanksAtOnceTakeNoMoreOfTheDriversMemoryThanIsSet() throws Exception {
    int ranks = 12;
    driver.blocks().shut();
    Future<?> all =
        threads.start(
            () ->
                threads.runTogether(
                    ranks,
                    rank -> {
                      driver.connect(STAGE).set("rank-" + rank, value(rank));
                      return null;
                    }));
    int piece = driver.store().uploads().pieceBytes();
    Eventually.holds(
        () -> driver.store().uploads().inFlight() == (long) ranks * piece,
        () -> driver.store().uploads().inFlight() + " bytes in flight");
    driver.blocks().open();
    Threads.result(all);
    try (Store reader = driver.connect(STAGE)) {
      for (int rank = 0; rank < ranks; rank++) {
        assertThat(Arrays.equals(reader.get("rank-" + rank), value(rank))).isTrue();
      }
    }
    assertThat(driver.mostOnTheWay()).isLessThanOrEqualTo(TestDriver.IN_FLIGHT);
    assertKept(ranks);
  }

  @Test
  void whoComesWhenAllIsTakenWaitsForItsTurn() throws Exception {
    int ranks = 40;
    driver.blocks().shut();
    Future<?> all =
        threads.start(
            () ->
                threads.runTogether(
                    ranks,
                    rank -> {
                      driver.connect(STAGE).set("rank-" + rank, new byte[100_000]);
                      return null;
                    }));
    int piece = driver.store().uploads().pieceBytes();
    Eventually.holds(
        () -> driver.store().uploads().inFlight() + piece > TestDriver.IN_FLIGHT,
        () -> driver.store().uploads().inFlight() + " bytes in flight");
    assertThat(all.isDone()).isFalse();
    driver.blocks().open();
    Threads.result(all);
    assertThat(driver.mostOnTheWay()).isLessThanOrEqualTo(TestDriver.IN_FLIGHT);
    assertThat(driver.blocks().values()).isEqualTo(ranks);
  }

  @Test
  void killsCleanUpsAndSmallRequestsDoNotWaitForLargeValues() throws Exception {
    DriverStoreClient small = driver.connect(STAGE);
    DriverStoreClient large = driver.connect(STAGE);
    driver.blocks().shut();
    List<Future<?>> writing =
        List.of(
            threads.start(() -> set(large, "a")),
            threads.start(() -> set(large, "b")),
            threads.start(() -> set(large, "c")));
    Eventually.holds(() -> driver.blocks().puts() == 2, () -> "both writers wait for the disk");

    small.set("k", "v");
    assertThat(small.get("k")).asString().isEqualTo("v");
    small.leaveWill(
        "world",
        new Failure(
            Failure.Kind.EXECUTOR_LOST, new RankLocation(1, "host", "1", 77), "", -1, "lost"));
    small.tearDown("rank 1 is late", Duration.ZERO);
    Eventually.holds(() -> driver.killed().contains(77L), () -> "task 77 is killed");
    driver.store().stageEnded(STAGE, false);
    assertThat(driver.store().table().list("")).isEmpty();

    driver.blocks().open();
    for (Future<?> each : writing) {
      assertThat(Threads.failure(each)).isInstanceOf(StoreException.class);
    }
  }

  private static Object set(Store store, String key) {
    store.set(key, value(1));
    return null;
  }

  @Test
  void aValueThatDoesNotFitIsRefusedAtOnceWithItsSizeTheLimitAndTheSetting() {
    driver.close();
    driver = new TestDriver("4m");
    try (Store store = driver.connect(STAGE)) {
      store.set("k", value(1));
      assertThatThrownBy(() -> store.set("other", value(2)))
          .isInstanceOf(StoreException.class)
          .hasMessageContaining("cannot keep a value of " + LARGE + " bytes")
          .hasMessageContaining("it holds " + LARGE + " bytes")
          .hasMessageContaining("spark.collectives.store.maxSize is 4m");
      assertThat(driver.sent()).as("nothing of it was sent").isEqualTo(LARGE);
      assertThat(store.get("k")).isEqualTo(value(1));
      assertKept(1);
      store.deleteKey("k");
      store.set("other", value(2));
      assertKept(1);
    }
  }

  @Test
  void aDiskThatIsFullRefusesTheValueAndKeepsNothingOfIt() {
    try (Store store = driver.connect(STAGE)) {
      driver.blocks().roomFor(5);
      assertThatThrownBy(() -> store.set("k", value(1)))
          .isInstanceOf(StoreException.class)
          .hasMessageContaining("a value of " + LARGE + " bytes")
          .hasMessageContaining("no space left on device");
      driver.blocks().roomFor(Integer.MAX_VALUE);
      assertThat(driver.store().uploads().inFlight()).isZero();
      assertKept(0);
      assertThat(store.check(List.of("k"))).isFalse();
      store.set("k", value(1));
      assertThat(store.get("k")).isEqualTo(value(1));
    }
  }

  @Test
  void whatIsRefusedTakenReplacedOrDeletedLeavesNothing() {
    try (Store store = driver.connect(STAGE)) {
      store.queuePush("q", value(1));
      assertThatThrownBy(() -> store.set("q", value(2))).hasMessageContaining("\"q\" is a queue");
      assertThatThrownBy(() -> store.multiSet(List.of("a", "q"), List.of(value(2), value(3))))
          .hasMessageContaining("is a queue");
      assertKept(1);
      assertThat(store.queuePop("q", true)).isEqualTo(value(1));
      assertKept(0);
      store.set("k", value(4));
      store.set("k", value(5));
      assertThatThrownBy(() -> store.queuePush("k", value(6))).hasMessageContaining("not a queue");
      assertThat(store.compareSet("k", value(6), value(7))).isEqualTo(value(5));
      assertKept(1);
      assertThat(store.compareSet("k", value(5), value(7))).isEqualTo(value(7));
      assertThat(store.get("k")).isEqualTo(value(7));
      assertKept(1);
      store.deleteKey("k");
      assertKept(0);
    }
  }

  @Test
  void aLargeValueGrowsWithoutBeingWholeInTheDriversMemory() {
    try (Store store = driver.connect(STAGE)) {
      store.append("k", new byte[] {1});
      store.append("k", value(2));
      store.append("k", new byte[] {3});
      byte[] expected = new byte[LARGE + 2];
      expected[0] = 1;
      System.arraycopy(value(2), 0, expected, 1, LARGE);
      expected[LARGE + 1] = 3;
      assertThat(Arrays.equals(store.get("k"), expected)).isTrue();
      assertThat(driver.blocks().values()).isEqualTo(1);
      assertThat(driver.store().values().kept()).isEqualTo(LARGE + 2);
    }
  }

  @Test
  void manyLargeValuesOfOneCallAreFetchedAFewAtOnce() throws Exception {
    List<String> keys = IntStream.range(0, 40).mapToObj(i -> "key " + i).toList();
    List<byte[]> values = keys.stream().map(key -> Arrays.copyOf(value(1), 70_000)).toList();
    for (int i = 0; i < values.size(); i++) {
      values.get(i)[0] = (byte) i;
    }
    try (Store store = driver.connect(STAGE)) {
      store.multiSet(keys, values);
      driver.blocks().shut();
      CompletableFuture<Thread> caller = new CompletableFuture<>();
      Future<List<byte[]>> got =
          threads.start(
              () -> {
                caller.complete(Thread.currentThread());
                return store.multiGet(keys);
              });
      Thread.State waiting = Thread.State.TIMED_WAITING;
      Eventually.holds(
          () -> driver.blocks().fetches() >= 4 && caller.join().getState() == waiting,
          () -> driver.blocks().fetches() + " are fetched");
      // Threads of other tests may still end.
      Eventually.holds(() -> fetchers() == 4, () -> fetchers() + " threads fetch");
      driver.blocks().open();
      assertThat(Threads.result(got)).usingRecursiveComparison().isEqualTo(values);
    }
    assertThat(driver.blocks().mostFetches()).isEqualTo(4);
  }

  private static long fetchers() {
    return Thread.getAllStackTraces().keySet().stream()
        .filter(each -> each.getName().startsWith("collectives-block-fetch"))
        .count();
  }

  @Test
  void aValueWhoseGroupEndsOnTheWayIsNotStored() throws Exception {
    try (Store store = driver.connect(STAGE)) {
      StoreLease lease = StoreLease.of(store);
      driver.blocks().shut();
      Future<?> set = threads.start(() -> set(lease.store(), "k"));
      Eventually.holds(() -> driver.blocks().puts() == 1, () -> "the first piece is written");
      lease.revoke(new StoreException("the group has failed"));
      assertThat(Threads.failure(set)).hasMessageContaining("the group has failed");
      driver.blocks().open();
      Eventually.holds(() -> driver.blocks().values() == 0, () -> "nothing of it is left");
      assertThat(store.check(List.of("k"))).isFalse();
    }
  }

  @Test
  void aCallThatIsGivenUpLeavesNothing() throws Exception {
    try (Store store = driver.connect(STAGE)) {
      driver.blocks().shut();
      CompletableFuture<Thread> caller = new CompletableFuture<>();
      Future<?> set =
          threads.start(
              () -> {
                caller.complete(Thread.currentThread());
                return set(store, "k");
              });
      Eventually.holds(() -> driver.blocks().puts() == 1, () -> "the first piece is written");
      Threads.result(caller).interrupt();
      assertThat(Threads.failure(set)).hasMessageContaining("interrupted");
      driver.blocks().open();
      Eventually.holds(() -> driver.blocks().values() == 0, () -> "nothing of it is left");
      assertThat(store.check(List.of("k"))).isFalse();
    }
  }
}
