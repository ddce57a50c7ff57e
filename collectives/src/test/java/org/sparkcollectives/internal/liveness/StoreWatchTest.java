package org.sparkcollectives.internal.liveness;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.slf4j.LoggerFactory;
import org.sparkcollectives.store.HashStore;
import org.sparkcollectives.store.Store;

/**
 * Tests which values a watch of the store delivers, and when. Everything runs on the test's thread.
 */
class StoreWatchTest {

  private static final Duration PERIOD = Duration.ofSeconds(1);

  private final HashStore store = new HashStore();
  private final FakeTime time = new FakeTime(Long.MAX_VALUE - 5);
  private final List<String> heard = new ArrayList<>();
  private final List<Throwable> lost = new ArrayList<>();
  private final Queue<Runnable> waiting = new ArrayDeque<>();
  private boolean threads = true;
  private boolean late;
  private StoreWatch watch;

  @AfterEach
  void close() {
    watch.close();
    store.close();
  }

  private void run(Runnable action) {
    if (!threads) {
      throw new OutOfMemoryError("unable to create native thread: possibly out of memory");
    }
    if (late) {
      waiting.add(action);
    } else {
      action.run();
    }
  }

  private void watch(Store over, StoreWatch.Keys keys) {
    watch =
        new StoreWatch(
            over,
            keys,
            PERIOD,
            new BackgroundCalls(this::run, LoggerFactory.getLogger(StoreWatchTest.class), "rank"),
            time,
            new StoreWatch.Listener() {
              @Override
              public void arrived(long number, byte[] value) {
                String text = new String(value, StandardCharsets.UTF_8);
                heard.add(number + "=" + text);
                if (text.equals("bad")) {
                  throw new IllegalArgumentException("it is bad");
                }
              }

              @Override
              public void lost(Throwable cause) {
                lost.add(cause);
              }
            });
    watch.open();
  }

  private void write(String key, String value) {
    store.set(key, value.getBytes(StandardCharsets.UTF_8));
  }

  /** Returns a view of a store that can be polled but not watched. */
  private static Store unwatchable(Store target) {
    return (Store)
        Proxy.newProxyInstance(
            StoreWatchTest.class.getClassLoader(),
            new Class<?>[] {Store.class},
            (proxy, method, arguments) -> {
              try {
                return method.invoke(target, arguments);
              } catch (InvocationTargetException e) {
                throw e.getCause();
              }
            });
  }

  @Test
  void aKeyIsHeardOnceItIsWritten() {
    watch(store, StoreWatch.Keys.one("key"));
    assertThat(watch.isPushed()).isTrue();
    assertThat(heard).isEmpty();
    write("key", "a");
    write("key", "b");
    assertThat(heard).containsExactly("0=a");
  }

  @Test
  void theKeysOfASeriesAreHeardInTurn() {
    write("key/3", "a");
    watch(store, StoreWatch.Keys.series("key/", 3));
    assertThat(heard).containsExactly("3=a");
    assertThat(watch.next()).isEqualTo(4);
    write("key/5", "c");
    assertThat(heard).hasSize(1);
    write("key/4", "b");
    assertThat(heard).containsExactly("3=a", "4=b", "5=c");
    assertThat(watch.next()).isEqualTo(6);
  }

  @Test
  void aValueThatTheListenerThrowsAtEndsNoSeries() {
    watch(store, StoreWatch.Keys.series("key/", 0));
    write("key/0", "bad");
    write("key/1", "good");
    assertThat(heard).containsExactly("0=bad", "1=good");
  }

  @Test
  void whatArrivesWhileNoThreadCanBeHadIsHeardAtTheNextPollThatFindsOne() {
    watch(store, StoreWatch.Keys.series("key/", 0));
    threads = false;
    write("key/0", "a");
    watch.poll();
    assertThat(heard).isEmpty();
    threads = true;
    watch.poll();
    watch.poll();
    assertThat(heard).containsExactly("0=a");
    write("key/1", "b");
    assertThat(heard).containsExactly("0=a", "1=b");
  }

  @Test
  void aStoreThatCannotBeWatchedIsReadOnceInAPeriod() {
    watch(unwatchable(store), StoreWatch.Keys.series("key/", 0));
    assertThat(watch.isPushed()).isFalse();
    watch.poll();
    write("key/0", "a");
    write("key/1", "b");
    time.pass(PERIOD.minusNanos(1));
    watch.poll();
    assertThat(heard).isEmpty();
    time.pass(Duration.ofNanos(1));
    watch.poll();
    assertThat(heard).containsExactly("0=a");
    time.pass(PERIOD);
    watch.poll();
    assertThat(heard).containsExactly("0=a", "1=b");
  }

  @Test
  void noTwoReadsAreUnderWayAtOnce() {
    watch(unwatchable(store), StoreWatch.Keys.one("key"));
    late = true;
    watch.poll();
    time.pass(PERIOD.multipliedBy(5));
    watch.poll();
    assertThat(waiting).hasSize(1);
    waiting.remove().run();
    watch.poll();
    assertThat(waiting).isEmpty();
    time.pass(PERIOD);
    watch.poll();
    assertThat(waiting).hasSize(1);
  }

  @Test
  void aReadForWhichNoThreadCanBeHadStaysDue() {
    watch(unwatchable(store), StoreWatch.Keys.one("key"));
    write("key", "a");
    threads = false;
    watch.poll();
    threads = true;
    watch.poll();
    assertThat(heard).containsExactly("0=a");
  }

  @Test
  void aReadAlsoAsksAStoreThatIsWatched() {
    watch(store, StoreWatch.Keys.one("key"));
    late = true;
    write("key", "a");
    assertThat(waiting).hasSize(1);
    late = false;
    watch.poll();
    assertThat(heard).isEmpty();
    watch.read();
    assertThat(heard).containsExactly("0=a");
  }

  @Test
  void theLossOfTheStoreIsHeard() {
    watch(store, StoreWatch.Keys.one("key"));
    store.close();
    assertThat(lost).hasSize(1);
  }

  @Test
  void nothingIsHeardAfterTheClose() {
    watch(store, StoreWatch.Keys.series("key/", 0));
    watch.close();
    write("key/0", "a");
    watch.read();
    store.close();
    assertThat(heard).isEmpty();
    assertThat(lost).isEmpty();
  }
}
