package org.sparkcollectives.gpu.cuda;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.sparkcollectives.testing.Eventually;

/** Tests that unreachable objects are cleaned, and that the thread ends with the last of them. */
final class ResourceCleanerTest {

  private static final String THREAD = "collectives-test-cleaner";

  private final ResourceCleaner cleaner = new ResourceCleaner(THREAD);
  private final AtomicInteger cleaned = new AtomicInteger();

  private static boolean threadExists() {
    return Thread.getAllStackTraces().keySet().stream()
        .anyMatch(each -> each.getName().equals(THREAD));
  }

  private static void awaitNoThread() {
    Eventually.holds(() -> !threadExists(), Eventually.LIMIT, () -> "the thread still exists");
  }

  private void awaitCleaned(int count) {
    Eventually.holdsAfterCollection(() -> cleaned.get() == count, () -> cleaned + " are cleaned");
  }

  @Test
  void theThreadExistsWhileAnObjectIsRegistered() {
    Object first = new Object();
    Object second = new Object();
    ResourceCleaner.Cleanable one = cleaner.register(first, cleaned::incrementAndGet);
    assertThat(threadExists()).isTrue();
    one.clean();
    one.clean();
    assertThat(cleaned).hasValue(1);
    awaitNoThread();
    cleaner.register(second, cleaned::incrementAndGet).clean();
    assertThat(cleaned).hasValue(2);
    awaitNoThread();
    assertThat(List.of(first, second)).doesNotContainNull();
  }

  @Test
  void anUnreachableObjectIsCleanedOnce() {
    List<Object> kept = new ArrayList<>();
    for (int i = 0; i < 100; i++) {
      Object object = new Object();
      cleaner.register(object, cleaned::incrementAndGet);
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
    cleaner.register(
        new Object(),
        () -> {
          throw new IllegalStateException("as the test wants it");
        });
    cleaner.register(new Object(), cleaned::incrementAndGet);
    awaitCleaned(1);
    awaitNoThread();
  }

  @Test
  void anErrorDoesNotKeepOthersFromBeingCleaned() {
    cleaner.register(
        new Object(),
        () -> {
          throw new OutOfMemoryError("as the test wants it");
        });
    cleaner.register(new Object(), cleaned::incrementAndGet);
    awaitCleaned(1);
    awaitNoThread();
  }
}
