package org.sparkcollectives.internal.liveness;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;
import org.sparkcollectives.testing.Eventually;

class ThreadStackTest {

  private final CountDownLatch letGo = new CountDownLatch(1);

  private void readingSlowly() {
    try {
      letGo.await();
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
  }

  @Test
  void theSummaryNamesTheThreadAndTheUsersCode() throws Exception {
    Thread thread = new Thread(this::readingSlowly, "task 7");
    thread.start();
    Eventually.holds(
        () -> thread.getState() == Thread.State.WAITING, () -> "the thread does not wait");
    ThreadStack stack = ThreadStack.of(thread);
    letGo.countDown();
    thread.join();
    assertThat(stack.summary())
        .startsWith("thread \"task 7\" (WAITING) is in ")
        .contains(
            ", called from org.sparkcollectives.internal.liveness.ThreadStackTest.readingSlowly(")
        .doesNotContain("java.base")
        .doesNotContain("CountDownLatch.await")
        .doesNotContain("\n");
    assertThat(stack.frames())
        .startsWith("\n\tat ")
        .contains("java.util.concurrent.CountDownLatch");
  }

  @Test
  void aThreadThatHasEndedIsSaidToHave() throws Exception {
    Thread thread = new Thread(() -> {}, "task 8");
    thread.start();
    thread.join();
    assertThat(ThreadStack.of(thread).summary())
        .isEqualTo("thread \"task 8\" (TERMINATED) has ended");
  }

  private static ThreadStack atDepth(int depth) {
    return depth == 0 ? ThreadStack.of(Thread.currentThread()) : atDepth(depth - 1);
  }

  @Test
  void deepRecursionIsCutOff() {
    assertThat(atDepth(1_000).text().lines().count()).isEqualTo(102);
  }
}
