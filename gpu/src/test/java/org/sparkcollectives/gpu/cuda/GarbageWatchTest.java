package org.sparkcollectives.gpu.cuda;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.sparkcollectives.testing.Eventually;

final class GarbageWatchTest {

  private static final String THREAD = "collectives-test-garbage";

  private final GarbageWatch garbage = new GarbageWatch(THREAD);
  private final AtomicInteger cleaned = new AtomicInteger();

  private static boolean threadIsThere() {
    return Thread.getAllStackTraces().keySet().stream()
        .anyMatch(each -> each.getName().equals(THREAD));
  }

  private static void awaitNoThread() {
    Eventually.holds(() -> !threadIsThere(), Eventually.LIMIT, () -> "the thread is still there");
  }

  private void awaitCleaned(int count) {
    Eventually.holdsAfterCollection(() -> cleaned.get() == count, () -> cleaned + " are cleaned");
  }

  @Test
  void theThreadIsThereAsLongAsSomethingIsWatched() {
    Object first = new Object();
    Object second = new Object();
    GarbageWatch.Watched one = garbage.watch(first, cleaned::incrementAndGet);
    assertThat(threadIsThere()).isTrue();
    one.clean();
    one.clean();
    assertThat(cleaned).hasValue(1);
    awaitNoThread();
    garbage.watch(second, cleaned::incrementAndGet).clean();
    assertThat(cleaned).hasValue(2);
    awaitNoThread();
    assertThat(List.of(first, second)).doesNotContainNull();
  }

  @Test
  void whatNobodyCanReachIsCleanedOnce() {
    List<Object> kept = new ArrayList<>();
    for (int i = 0; i < 100; i++) {
      Object object = new Object();
      garbage.watch(object, cleaned::incrementAndGet);
      if (i % 2 == 0) {
        kept.add(object);
      }
    }
    awaitCleaned(50);
    assertThat(kept).hasSize(50);
    kept.clear();
    awaitCleaned(100);
    awaitNoThread();
  }

  @Test
  void aFailureDoesNotKeepOthersFromBeingCleaned() {
    garbage.watch(
        new Object(),
        () -> {
          throw new IllegalStateException("as the test wants it");
        });
    garbage.watch(new Object(), cleaned::incrementAndGet);
    awaitCleaned(1);
    awaitNoThread();
  }

  @Test
  void anErrorDoesNotKeepOthersFromBeingCleaned() {
    garbage.watch(
        new Object(),
        () -> {
          throw new OutOfMemoryError("as the test wants it");
        });
    garbage.watch(new Object(), cleaned::incrementAndGet);
    awaitCleaned(1);
    awaitNoThread();
  }
}
