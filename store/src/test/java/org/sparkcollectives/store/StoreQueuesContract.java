package org.sparkcollectives.store;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.sparkcollectives.store.StoreUnderTest.bytes;
import static org.sparkcollectives.store.StoreUnderTest.timeoutOf;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.sparkcollectives.testing.Threads;

/** The contract of queues, and of keys that are queues. */
interface StoreQueuesContract extends StoreUnderTest {

  @Test
  default void aQueueGivesItsValuesInTheOrderOfTheirPushes() {
    for (String value : List.of("1", "2", "3")) {
      store().queuePush("q", bytes(value));
    }
    assertThat(store().queueLength("q")).isEqualTo(3);
    assertThat(other().queuePop("q", true)).asString().isEqualTo("1");
    assertThat(other().queuePop("q", false)).asString().isEqualTo("2");
    assertThat(other().queuePop("q", true)).asString().isEqualTo("3");
    assertThat(store().queueLength("q")).isZero();
    assertThat(store().check(List.of("q"))).isFalse();
  }

  @Test
  default void anEmptyQueueIsToldAtOnceOrAwaited() throws Exception {
    assertThat(store().queueLength("q")).isZero();
    assertThatThrownBy(() -> store().queuePop("q", false))
        .isInstanceOf(QueueEmptyException.class)
        .hasMessageContaining("q\"")
        .hasMessageContaining("is empty");
    StoreTimeoutException timeout = timeoutOf(() -> store().withTimeout(SHORT).queuePop("q", true));
    assertThat(timeout).hasMessageContaining("q\"").hasMessageContaining("30ms");
    assertThat(timeout.missingKeys()).containsExactly("q");

    Future<byte[]> value = threads().start(() -> store().queuePop("q", true));
    awaitParked(1);
    other().queuePush("q", bytes("v"));
    assertThat(Threads.result(value)).asString().isEqualTo("v");
  }

  @Test
  default void aDeletedQueueIsEmpty() {
    store().queuePush("q", bytes(""));
    assertThat(store().deleteKey("q")).isTrue();
    assertThat(store().queueLength("q")).isZero();
    store().set("q", bytes("now a value"));
    assertThat(store().get("q")).asString().isEqualTo("now a value");
  }

  @Test
  default void aKeyIsAValueOrAQueueNotBoth() {
    store().set("value", bytes(""));
    store().queuePush("queue", bytes(""));
    List<Runnable> wrong =
        List.of(
            () -> store().queuePush("value", bytes("")),
            () -> store().queuePop("value", true),
            () -> store().queuePop("value", false),
            () -> store().queueLength("value"),
            () -> store().set("queue", bytes("")),
            () -> store().get("queue"),
            () -> store().add("queue", 1),
            () -> store().append("queue", bytes("")),
            () -> store().compareSet("queue", bytes(""), bytes("")));
    for (Runnable call : wrong) {
      assertThatThrownBy(call::run)
          .isExactlyInstanceOf(StoreException.class)
          .hasMessageContaining("queue");
    }
    store().waitFor(List.of("value", "queue"), Duration.ZERO);
  }

  @Test
  default void aParkedCallFailsWhenItsKeyComesAsTheOtherKind() throws Exception {
    Future<byte[]> get = threads().start(() -> store().get("q"));
    Future<byte[]> pop = threads().start(() -> store().queuePop("v", true));
    awaitParked(2);
    other().queuePush("q", bytes(""));
    other().set("v", bytes(""));
    assertThat(Threads.failure(get)).isExactlyInstanceOf(StoreException.class);
    assertThat(Threads.failure(pop)).isExactlyInstanceOf(StoreException.class);
  }

  @Test
  default void noPushedValueIsLostOrSeenTwiceEvenIfTakersGiveUp() throws Exception {
    int producers = 3;
    int consumers = 3;
    int each = 150;
    AtomicInteger total = new AtomicInteger();
    AtomicInteger gaveUp = new AtomicInteger();
    List<Collection<String>> parts =
        threads()
            .runTogether(
                producers + consumers,
                index -> {
                  Store mine = index % 2 == 0 ? store() : other();
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
