package org.sparkcollectives.store;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.List;
import java.util.Random;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;
import org.sparkcollectives.testing.Eventually;
import org.sparkcollectives.testing.LeakCheck;
import org.sparkcollectives.testing.Threads;

/** What every kind of store does; each kind runs it. */
@ExtendWith(LeakCheck.class)
@Timeout(120)
public abstract class StoreContractTest {

  private static final Duration SHORT = Duration.ofMillis(30);

  private final Threads threads = new Threads();
  private Store store;
  private Store other;

  /** A store without data. */
  protected abstract Store create() throws Exception;

  /** Another handle on the data of the store that was created last; or that store itself. */
  protected abstract Store createOther() throws Exception;

  /** The table in which the data of the store that was created last is. */
  protected abstract StoreTable table();

  /** Closes the handle that owns the calls of the store that was created last. */
  protected void closeOwner() {
    store.close();
  }

  /** Frees what was created, after both stores were closed. */
  protected abstract void destroy() throws Exception;

  @BeforeEach
  void open() throws Exception {
    store = create();
    other = createOther();
  }

  @AfterEach
  void closeAll() throws Exception {
    int waiters = waiters();
    threads.close();
    closeOwner();
    other.close();
    destroy();
    assertThat(waiters).as("waiters left in the table").isZero();
  }

  /** The number of calls that wait in the store that was created last. */
  protected int waiters() {
    return table().waiterCount();
  }

  private void awaitParked(int count) {
    Eventually.holds(
        () -> waiters() == count, () -> waiters() + " waiters parked instead of " + count);
  }

  private static byte[] bytes(String text) {
    return text.getBytes(UTF_8);
  }

  private static StoreTimeoutException timeoutOf(Runnable call) {
    return catchThrowableOfType(StoreTimeoutException.class, call::run);
  }

  @Test
  void aValueIsReadAsItWasSet() {
    store.set("k", bytes("one"));
    assertThat(other.get("k")).asString().isEqualTo("one");
    store.set("k", bytes("two"));
    assertThat(other.get("k")).asString().isEqualTo("two");
  }

  @Test
  void anEmptyValueIsAValue() {
    store.set("k", new byte[0]);
    assertThat(store.get("k")).isEmpty();
    assertThat(store.check(List.of("k"))).isTrue();
  }

  @Test
  void valuesAreCopiedInAndOut() {
    byte[] value = bytes("abc");
    store.set("k", value);
    value[0] = 'x';
    byte[] first = store.get("k");
    assertThat(first).asString().isEqualTo("abc");
    first[0] = 'y';
    assertThat(store.get("k")).asString().isEqualTo("abc");
  }

  @Test
  void aValueOfSeveralMegabytesArrivesWhole() {
    byte[] value = new byte[5 << 20];
    new Random(42).nextBytes(value);
    store.set("large", value);
    assertThat(Arrays.equals(other.get("large"), value)).isTrue();
    store.queuePush("queue", value);
    assertThat(Arrays.equals(other.queuePop("queue", true), value)).isTrue();
  }

  @Test
  void aGetWaitsForTheKey() throws Exception {
    Future<byte[]> value = threads.start(() -> store.get("k"));
    awaitParked(1);
    other.set("k", bytes("late"));
    assertThat(Threads.result(value)).asString().isEqualTo("late");
  }

  @Test
  void aGetThatTimesOutNamesTheKeyAndTheTime() {
    StoreTimeoutException timeout = timeoutOf(() -> store.withTimeout(SHORT).get("nope"));
    assertThat(timeout).hasMessageContaining("nope\"").hasMessageContaining("after 30ms");
    assertThat(timeout.missingKeys()).containsExactly("nope");
    assertThat(timeout.waited()).isEqualTo(SHORT);
  }

  @Test
  void aStoreIsUsableAfterATimeout() {
    assertThat(timeoutOf(() -> store.withTimeout(SHORT).get("k"))).isNotNull();
    store.set("k", bytes("v"));
    assertThat(store.get("k")).asString().isEqualTo("v");
  }

  @Test
  void aTimeoutOfZeroStillFindsWhatIsThere() {
    store.set("k", bytes("v"));
    assertThat(store.withTimeout(Duration.ZERO).get("k")).asString().isEqualTo("v");
    assertThat(timeoutOf(() -> store.withTimeout(Duration.ZERO).get("nope"))).isNotNull();
  }

  @Test
  void aWaitForNoKeysReturnsAtOnce() {
    store.waitFor(List.of(), Duration.ZERO);
  }

  @Test
  void aWaitEndsWhenTheLastKeyComes() throws Exception {
    Future<Boolean> done =
        threads.start(
            () -> {
              store.waitFor(List.of("a", "b", "c"), Eventually.LIMIT);
              return true;
            });
    awaitParked(1);
    other.set("b", bytes(""));
    other.set("c", bytes(""));
    assertThat(done.isDone()).isFalse();
    other.set("a", bytes(""));
    assertThat(Threads.result(done)).isTrue();
  }

  @Test
  void aWaitNamesTheMissingKeys() {
    store.set("there", bytes(""));
    StoreTimeoutException timeout =
        timeoutOf(() -> store.waitFor(List.of("nope", "there", "nope2"), SHORT));
    assertThat(timeout.missingKeys()).containsExactly("nope", "nope2");
    assertThat(timeout)
        .hasMessageContaining("nope\"")
        .hasMessageContaining("nope2\"")
        .hasMessageNotContaining("there\"");
  }

  @Test
  void aKeyDeletedWhileOthersAreAwaitedIsAwaitedAgain() throws Exception {
    other.set("a", bytes(""));
    Future<List<byte[]>> values = threads.start(() -> store.multiGet(List.of("a", "b")));
    awaitParked(1);
    other.deleteKey("a");
    other.set("b", bytes("2"));
    awaitParked(1);
    other.set("a", bytes("1"));
    assertThat(Threads.result(values))
        .extracting(value -> new String(value, UTF_8))
        .containsExactly("1", "2");
  }

  @Test
  void checkIsTrueOnlyIfAllKeysExist() {
    store.set("a", bytes(""));
    assertThat(store.check(List.of())).isTrue();
    assertThat(store.check(List.of("a"))).isTrue();
    assertThat(store.check(List.of("a", "b"))).isFalse();
  }

  @Test
  void deleteTellsWhetherTheKeyExisted() {
    store.set("k", bytes(""));
    assertThat(store.deleteKey("k")).isTrue();
    assertThat(store.deleteKey("k")).isFalse();
    assertThat(store.check(List.of("k"))).isFalse();
  }

  @Test
  void keysAreCountedAndListedExactly() {
    assertThat(store.numKeys()).isZero();
    assertThat(store.listKeys()).isEmpty();
    store.set("a", bytes(""));
    store.add("b", 1);
    store.queuePush("c", bytes(""));
    assertThat(store.numKeys()).isEqualTo(3);
    assertThat(store.listKeys()).containsExactlyInAnyOrder("a", "b", "c");
  }

  @Test
  void addCountsInDecimalText() {
    assertThat(store.add("n", 5)).isEqualTo(5);
    assertThat(store.add("n", -7)).isEqualTo(-2);
    assertThat(store.get("n")).asString().isEqualTo("-2");
    store.set("m", bytes("41"));
    assertThat(store.add("m", 1)).isEqualTo(42);
    assertThat(store.add("edge", Long.MIN_VALUE)).isEqualTo(Long.MIN_VALUE);
    assertThat(store.add("edge", 0)).isEqualTo(Long.MIN_VALUE);
  }

  @Test
  void addRefusesWhatIsNotADecimalNumber() {
    for (String text : List.of("12abc", "", "-", "+1", " 1", "0x10", "9223372036854775808", "٣")) {
      store.set("n", bytes(text));
      assertThatThrownBy(() -> store.add("n", 1))
          .isInstanceOf(StoreException.class)
          .hasMessageContaining("n\"")
          .hasMessageContaining("decimal");
      assertThat(store.get("n")).asString().isEqualTo(text);
    }
  }

  @Test
  void addRefusesToOverflow() {
    store.add("n", Long.MAX_VALUE);
    assertThatThrownBy(() -> store.add("n", 1))
        .isInstanceOf(StoreException.class)
        .hasMessageContaining("64 bits");
    assertThat(store.add("n", 0)).isEqualTo(Long.MAX_VALUE);
  }

  @Test
  void compareSetOnAMissingKeyCreatesItOnlyWhenNothingIsExpected() {
    assertThat(store.compareSet("k", bytes("old"), bytes("new"))).asString().isEqualTo("old");
    assertThat(store.check(List.of("k"))).isFalse();
    assertThat(store.compareSet("k", bytes(""), bytes("new"))).asString().isEqualTo("new");
    assertThat(store.get("k")).asString().isEqualTo("new");
  }

  @Test
  void compareSetReplacesOnlyTheExpectedValue() {
    store.set("k", bytes("a"));
    assertThat(store.compareSet("k", bytes("b"), bytes("c"))).asString().isEqualTo("a");
    assertThat(store.compareSet("k", bytes(""), bytes("c"))).asString().isEqualTo("a");
    assertThat(store.compareSet("k", bytes("a"), bytes(""))).asString().isEmpty();
    assertThat(store.compareSet("k", bytes(""), bytes("z"))).asString().isEqualTo("z");
    assertThat(store.get("k")).asString().isEqualTo("z");
  }

  @Test
  void appendCreatesAndExtends() {
    store.append("k", bytes("ab"));
    store.append("k", bytes(""));
    store.append("k", bytes("cd"));
    assertThat(store.get("k")).asString().isEqualTo("abcd");
  }

  @Test
  void multiGetKeepsTheOrderAndWaits() throws Exception {
    store.set("a", bytes("1"));
    Future<List<byte[]>> values = threads.start(() -> store.multiGet(List.of("b", "a", "b")));
    awaitParked(1);
    other.set("b", bytes("2"));
    assertThat(Threads.result(values))
        .extracting(value -> new String(value, UTF_8))
        .containsExactly("2", "1", "2");
    assertThat(store.multiGet(List.of())).isEmpty();
  }

  @Test
  void multiGetThatTimesOutNamesTheMissingKeys() {
    store.set("a", bytes(""));
    Store impatient = store.withTimeout(SHORT);
    StoreTimeoutException timeout =
        timeoutOf(() -> impatient.multiGet(List.of("a", "nope", "nope2")));
    assertThat(timeout.missingKeys()).containsExactly("nope", "nope2");
  }

  @Test
  void multiSetStoresAllOrNothing() {
    store.multiSet(List.of("a", "b"), List.of(bytes("1"), bytes("2")));
    assertThat(store.get("b")).asString().isEqualTo("2");
    assertThatIllegalArgumentException()
        .isThrownBy(() -> store.multiSet(List.of("c", "d"), List.of(bytes(""))))
        .withMessageContaining("2 keys and 1 values");
    store.queuePush("q", bytes(""));
    assertThatThrownBy(() -> store.multiSet(List.of("c", "q"), List.of(bytes(""), bytes(""))))
        .isInstanceOf(StoreException.class);
    assertThat(store.check(List.of("c"))).isFalse();
  }

  @Test
  void aQueueGivesItsValuesInTheOrderOfTheirPushes() {
    for (String value : List.of("1", "2", "3")) {
      store.queuePush("q", bytes(value));
    }
    assertThat(store.queueLength("q")).isEqualTo(3);
    assertThat(other.queuePop("q", true)).asString().isEqualTo("1");
    assertThat(other.queuePop("q", false)).asString().isEqualTo("2");
    assertThat(other.queuePop("q", true)).asString().isEqualTo("3");
    assertThat(store.queueLength("q")).isZero();
    assertThat(store.check(List.of("q"))).isFalse();
  }

  @Test
  void anEmptyQueueIsToldAtOnceOrAwaited() throws Exception {
    assertThat(store.queueLength("q")).isZero();
    assertThatThrownBy(() -> store.queuePop("q", false))
        .isInstanceOf(QueueEmptyException.class)
        .hasMessageContaining("q\"")
        .hasMessageContaining("is empty");
    StoreTimeoutException timeout = timeoutOf(() -> store.withTimeout(SHORT).queuePop("q", true));
    assertThat(timeout).hasMessageContaining("q\"").hasMessageContaining("30ms");
    assertThat(timeout.missingKeys()).containsExactly("q");

    Future<byte[]> value = threads.start(() -> store.queuePop("q", true));
    awaitParked(1);
    other.queuePush("q", bytes("v"));
    assertThat(Threads.result(value)).asString().isEqualTo("v");
  }

  @Test
  void aDeletedQueueIsEmpty() {
    store.queuePush("q", bytes(""));
    assertThat(store.deleteKey("q")).isTrue();
    assertThat(store.queueLength("q")).isZero();
    store.set("q", bytes("now a value"));
    assertThat(store.get("q")).asString().isEqualTo("now a value");
  }

  @Test
  void aKeyIsAValueOrAQueueNotBoth() {
    store.set("value", bytes(""));
    store.queuePush("queue", bytes(""));
    List<Runnable> wrong =
        List.of(
            () -> store.queuePush("value", bytes("")),
            () -> store.queuePop("value", true),
            () -> store.queuePop("value", false),
            () -> store.queueLength("value"),
            () -> store.set("queue", bytes("")),
            () -> store.get("queue"),
            () -> store.add("queue", 1),
            () -> store.append("queue", bytes("")),
            () -> store.compareSet("queue", bytes(""), bytes("")));
    for (Runnable call : wrong) {
      assertThatThrownBy(call::run)
          .isExactlyInstanceOf(StoreException.class)
          .hasMessageContaining("queue");
    }
    store.waitFor(List.of("value", "queue"), Duration.ZERO);
  }

  @Test
  void aParkedCallFailsWhenItsKeyComesAsTheOtherKind() throws Exception {
    Future<byte[]> get = threads.start(() -> store.get("q"));
    Future<byte[]> pop = threads.start(() -> store.queuePop("v", true));
    awaitParked(2);
    other.queuePush("q", bytes(""));
    other.set("v", bytes(""));
    assertThat(Threads.failure(get)).isExactlyInstanceOf(StoreException.class);
    assertThat(Threads.failure(pop)).isExactlyInstanceOf(StoreException.class);
  }

  @Test
  void aBarrierOpensWhenAllHaveArrivedAgainAndAgain() throws Exception {
    int size = 4;
    int rounds = 50;
    store.barrier("alone", 1, Duration.ZERO);
    threads.runTogether(
        size,
        rank -> {
          Store mine = rank % 2 == 0 ? store : other;
          for (int round = 0; round < rounds; round++) {
            mine.add("arrived", 1);
            mine.barrier("b", size, Eventually.LIMIT);
            assertThat(mine.add("arrived", 0)).isGreaterThanOrEqualTo((round + 1L) * size);
            mine.barrier("b", size, Eventually.LIMIT);
          }
          return null;
        });
    assertThat(store.check(List.of("b"))).isFalse();
  }

  @Test
  void aBarrierThatTimesOutTellsHowManyArrivedAndForgetsTheCaller() throws Exception {
    StoreTimeoutException timeout = timeoutOf(() -> store.barrier("b", 3, SHORT));
    assertThat(timeout).hasMessageContaining("1 of 3").hasMessageContaining("b\"");
    assertThat(timeout.missingKeys()).containsExactly("b");
    threads.runTogether(
        2,
        rank -> {
          store.barrier("b", 2, Eventually.LIMIT);
          return null;
        });
  }

  @Test
  void aBarrierRefusesADifferentWorldSize() throws Exception {
    Future<Object> first =
        threads.start(
            () -> {
              store.barrier("b", 2, Eventually.LIMIT);
              return null;
            });
    awaitParked(1);
    assertThatThrownBy(() -> other.barrier("b", 3, Eventually.LIMIT))
        .isInstanceOf(StoreException.class)
        .hasMessageContaining("world of 3")
        .hasMessageContaining("expect 2");
    other.barrier("b", 2, Eventually.LIMIT);
    assertThat(Threads.result(first)).isNull();
    assertThatIllegalArgumentException()
        .isThrownBy(() -> store.barrier("b", 0, SHORT))
        .withMessageContaining("positive");
  }

  @Test
  void aViewHasItsOwnTimeoutAndClosingItDoesNothing() {
    Store view = store.withTimeout(SHORT);
    assertThat(view.timeout()).isEqualTo(SHORT);
    assertThat(store.timeout()).isNotEqualTo(SHORT);
    assertThat(view.withTimeout(Duration.ofDays(1)).timeout()).isEqualTo(Duration.ofDays(1));
    view.close();
    view.set("k", bytes("v"));
    assertThat(store.get("k")).asString().isEqualTo("v");
    assertThatIllegalArgumentException().isThrownBy(() -> store.withTimeout(Duration.ofMillis(-1)));
  }

  @Test
  void aPrefixIsASpaceOfItsOwn() {
    Store a = store.withPrefix("a");
    a.set("k", bytes("in a"));
    store.set("k", bytes("outside"));
    store.set("ab/k", bytes("a sibling"));
    a.queuePush("q", bytes(""));
    assertThat(a.numKeys()).isEqualTo(2);
    assertThat(a.listKeys()).containsExactlyInAnyOrder("k", "q");
    assertThat(other.get("a/k")).asString().isEqualTo("in a");
    assertThat(a.deleteKey("k")).isTrue();
    assertThat(store.get("k")).asString().isEqualTo("outside");
    a.close();
    assertThat(a.compareSet("k", bytes(""), bytes("again"))).asString().isEqualTo("again");
    assertThat(a.multiGet(List.of("k"))).hasSize(1);
  }

  @Test
  void nestedPrefixesJoinFromTheOutside() {
    Store inner = store.withPrefix("b").withPrefix("a");
    inner.set("k", bytes("v"));
    assertThat(store.get("b/a/k")).asString().isEqualTo("v");
    assertThat(inner.listKeys()).containsExactly("k");
    assertThat(store.withPrefix("b").listKeys()).containsExactly("a/k");
  }

  @Test
  void aPrefixViewTimesOutWithItsOwnKeys() {
    Store view = store.withPrefix("p").withTimeout(SHORT);
    StoreTimeoutException timeout = timeoutOf(() -> view.multiGet(List.of("x", "y")));
    assertThat(timeout.missingKeys()).containsExactly("x", "y");
    assertThat(timeout).hasMessageContaining("p/x\"");
    timeout = timeoutOf(() -> view.barrier("b", 2, SHORT));
    assertThat(timeout.missingKeys()).containsExactly("b");
  }

  @Test
  void keysMayHoldAnyCharacterButNotBeEndless() {
    for (String key : List.of("", " ", "ключ", "鍵", "😀", "a\u0000b", "/", "é".repeat(1000))) {
      store.set(key, bytes(key));
      assertThat(other.get(key)).asString().isEqualTo(key);
    }
    assertThatIllegalArgumentException()
        .isThrownBy(() -> store.set("x".repeat((1 << 16) + 1), bytes("")))
        .withMessageContaining("65536");
    assertThatIllegalArgumentException()
        .isThrownBy(() -> store.set("\ud83d", bytes("")))
        .withMessageContaining("surrogate");
  }

  @Test
  void nullsAreRefused() {
    assertThatThrownBy(() -> store.set(null, bytes(""))).isInstanceOf(NullPointerException.class);
    assertThatThrownBy(() -> store.set("k", null)).isInstanceOf(NullPointerException.class);
    assertThatThrownBy(() -> store.waitFor(List.of("k"), null))
        .isInstanceOf(NullPointerException.class);
  }

  @Test
  void anInterruptEndsAWaitAndStaysSet() throws Exception {
    CompletableFuture<Thread> thread = new CompletableFuture<>();
    Future<Boolean> interrupted =
        threads.start(
            () -> {
              thread.complete(Thread.currentThread());
              assertThatThrownBy(() -> store.get("nope"))
                  .isExactlyInstanceOf(StoreException.class)
                  .hasMessageContaining("interrupted");
              return Thread.interrupted();
            });
    awaitParked(1);
    Threads.result(thread).interrupt();
    assertThat(Threads.result(interrupted)).isTrue();
    awaitParked(0);
    store.set("k", bytes("still usable"));
    assertThat(store.get("k")).asString().isEqualTo("still usable");
  }

  @Test
  void aWatchCompletesWhenTheKeyComes() throws Exception {
    WatchableStore watchable = (WatchableStore) store;
    CompletableFuture<byte[]> watch = watchable.watch("k");
    CompletableFuture<byte[]> cancelled = watchable.watch("never");
    awaitParked(2);
    cancelled.cancel(false);
    awaitParked(1);
    assertThat(watch.isDone()).isFalse();
    other.set("k", bytes("v"));
    assertThat(Threads.result(watch)).asString().isEqualTo("v");
  }

  @Test
  void closingWakesBlockedCallsAndRefusesMore() throws Exception {
    Store view = store.withPrefix("p").withTimeout(Duration.ofMinutes(2));
    List<Future<?>> blocked =
        List.of(
            threads.start(() -> store.get("nope")),
            threads.start(() -> view.queuePop("nope", true)),
            threads.start(
                () -> {
                  store.barrier("b", 2, Eventually.LIMIT);
                  return null;
                }),
            ((WatchableStore) store).watch("nope"));
    awaitParked(4);
    closeOwner();
    for (Future<?> call : blocked) {
      assertThat(Threads.failure(call))
          .isInstanceOf(IllegalStateException.class)
          .hasMessageContaining("closed");
    }
    closeOwner();
    assertThatThrownBy(() -> store.set("k", bytes(""))).isInstanceOf(IllegalStateException.class);
    assertThatThrownBy(() -> view.get("k")).isInstanceOf(IllegalStateException.class);
    awaitParked(0);
  }

  @Test
  void concurrentAddsAllCount() throws Exception {
    threads.runTogether(
        8,
        index -> {
          Store mine = index % 2 == 0 ? store : other;
          for (int i = 0; i < 200; i++) {
            mine.add("n", 1);
          }
          return null;
        });
    assertThat(store.add("n", 0)).isEqualTo(1600);
  }

  @Test
  void oneOfManyWinsACompareSet() throws Exception {
    for (int round = 0; round < 30; round++) {
      String key = "leader" + round;
      List<String> seen =
          threads.runTogether(
              6,
              index ->
                  new String(
                      (index % 2 == 0 ? store : other)
                          .compareSet(key, new byte[0], bytes("rank " + index)),
                      UTF_8));
      assertThat(seen).allMatch(seen.get(0)::equals);
    }
  }

  @Test
  void noPushedValueIsLostOrSeenTwiceEvenIfTakersGiveUp() throws Exception {
    int producers = 3;
    int consumers = 3;
    int each = 150;
    AtomicInteger total = new AtomicInteger();
    AtomicInteger gaveUp = new AtomicInteger();
    List<Collection<String>> parts =
        threads.runTogether(
            producers + consumers,
            index -> {
              Store mine = index % 2 == 0 ? store : other;
              if (index < producers) {
                for (int i = 0; i < each; i++) {
                  mine.queuePush("q", bytes(index + ":" + i));
                }
                return List.of();
              }
              Store impatient = mine.withTimeout(Duration.ofNanos(300_000));
              List<String> taken = new ArrayList<>();
              while (total.get() < producers * each) {
                try {
                  taken.add(new String(impatient.queuePop("q", true), UTF_8));
                  total.incrementAndGet();
                } catch (StoreTimeoutException e) {
                  gaveUp.incrementAndGet();
                }
              }
              return taken;
            });
    List<String> all = parts.stream().flatMap(Collection::stream).toList();
    assertThat(all).doesNotHaveDuplicates().hasSize(producers * each);
  }
}
