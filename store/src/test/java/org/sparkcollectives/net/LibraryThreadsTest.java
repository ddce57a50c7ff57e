package org.sparkcollectives.net;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Future;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Tests the threads of the library: what ends one never reaches the JVM's own handler. */
@Timeout(60)
class LibraryThreadsTest {

  private final Queue<Throwable> uncaught = new ConcurrentLinkedQueue<>();
  private Thread.UncaughtExceptionHandler before;

  @BeforeEach
  void collectWhatNobodyCatches() {
    before = Thread.getDefaultUncaughtExceptionHandler();
    Thread.setDefaultUncaughtExceptionHandler((thread, thrown) -> uncaught.add(thrown));
  }

  @AfterEach
  void nothingWasLeftToTheJvm() {
    Thread.setDefaultUncaughtExceptionHandler(before);
    assertThat(uncaught).isEmpty();
  }

  private static void fail() {
    throw new OutOfMemoryError("of a test");
  }

  @Test
  void anErrorEndsAThreadAndNothingElse() throws Exception {
    Thread thread = LibraryThreads.start("collectives-one", LibraryThreadsTest::fail);
    thread.join();
    assertThat(thread.getName()).isEqualTo("collectives-one");
    assertThat(thread.isDaemon()).isTrue();
  }

  @Test
  void threadsMayBeNumbered() {
    LibraryThreads threads = LibraryThreads.numbered("collectives-many");
    assertThat(threads.newThread(() -> {}).getName()).isEqualTo("collectives-many-1");
    assertThat(threads.newThread(() -> {}).getName()).isEqualTo("collectives-many-2");
  }

  @Test
  void eventLoopsHaveTheHandler() throws Exception {
    try (EventLoops loops = EventLoops.open("loop", 1)) {
      Future<Thread> thread = loops.group().submit(Thread::currentThread);
      assertThat(thread.get().getUncaughtExceptionHandler())
          .isNotSameAs(thread.get().getThreadGroup());
      assertThat(thread.get().getName()).startsWith("collectives-loop-");
      assertThat(thread.get().isDaemon()).isTrue();
    }
    Thread thread =
        LibraryThreads.ofEventLoops("collectives-loop").newThread(LibraryThreadsTest::fail);
    thread.start();
    thread.join();
  }
}
