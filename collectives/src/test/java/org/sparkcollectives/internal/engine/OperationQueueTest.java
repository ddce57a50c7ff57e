package org.sparkcollectives.internal.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.LongConsumer;
import java.util.stream.LongStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.Test;
import org.sparkcollectives.ErrorHandling;
import org.sparkcollectives.internal.failure.ClosingTime;
import org.sparkcollectives.internal.liveness.HeartbeatElection;
import org.sparkcollectives.internal.liveness.RankHeartbeat;
import org.sparkcollectives.internal.liveness.RankHost;
import org.sparkcollectives.internal.rendezvous.Membership;
import org.sparkcollectives.internal.transport.Endpoint;
import org.sparkcollectives.internal.transport.NodeAddress;
import org.sparkcollectives.internal.transport.Place;
import org.sparkcollectives.internal.work.GroupMonitor;
import org.sparkcollectives.internal.work.TimeLimit;
import org.sparkcollectives.spi.OperationSpec;
import org.sparkcollectives.spi.RankContext;
import org.sparkcollectives.store.HashStore;
import org.sparkcollectives.testing.Eventually;
import org.sparkcollectives.testing.Threads;

/**
 * Tests which thread runs a collective: one that awaits it, or one of the executor, and never both.
 */
class OperationQueueTest {

  private static final int SUBMITTERS = 3;
  private static final int COLLECTIVES = 2000;
  private static final Duration LONG = Duration.ofMinutes(10);

  private final ExecutorService executor = Executors.newCachedThreadPool();
  private final HashStore store = new HashStore();
  private GroupMonitor monitor;
  private OperationQueue queue;

  @BeforeEach
  void begin() {
    RankContext context = RankContext.process();
    Endpoint self =
        new Endpoint(
            0, new NodeAddress("node", new Place("host", 2, true), "127.0.0.1", 1, "executor"), -1);
    Membership alone = Membership.withoutPeers("group", "a test", self, 1);
    RankHost host = new RankHost(context, executor);
    RankHeartbeat none = new RankHeartbeat(alone, store, false, new HeartbeatElection(), host);
    monitor = new GroupMonitor(alone, store, ErrorHandling.CLEAN_UP_ONLY, none, host);
    queue = new OperationQueue(monitor, executor);
  }

  @AfterEach
  void end() {
    monitor.close();
    store.close();
    executor.shutdownNow();
  }

  /** Returns a collective that does something with its number. */
  private static CollectiveTask task(OperationQueue queue, LongConsumer body) {
    return new CollectiveTask(
        queue,
        OperationSpec.barrier(),
        new TimeLimit(LONG, LONG),
        List.of(),
        List.of(),
        task -> body.accept(task.sequenceNumber()));
  }

  private CollectiveTask submit(LongConsumer body) {
    return submit(queue, body);
  }

  private static CollectiveTask submit(OperationQueue queue, LongConsumer body) {
    return queue.submit(task(queue, body));
  }

  @Test
  void anOperationThatIsRefusedBecauseTheGroupIsBeingClosedHasNoNumber() {
    monitor.state().beginClose(ClosingTime.of(Duration.ZERO));
    assertThatThrownBy(() -> queue.begin(task(queue, number -> {})))
        .isInstanceOf(IllegalStateException.class)
        .hasMessageContaining("is closed");
    assertThat(queue.lastSequenceNumber()).isEqualTo(-1);
  }

  @RepeatedTest(5)
  void eachCollectiveRunsOnceAndAloneInItsOrderWhoeverRunsIt() throws Exception {
    long seed = System.nanoTime();
    System.out.println("seed " + seed);
    AtomicInteger submitting = new AtomicInteger(SUBMITTERS);
    AtomicBoolean running = new AtomicBoolean();
    AtomicInteger together = new AtomicInteger();
    List<Long> order = new ArrayList<>();
    ConcurrentLinkedQueue<CollectiveTask> left = new ConcurrentLinkedQueue<>();
    try (Threads threads = new Threads()) {
      threads.runTogether(
          SUBMITTERS + 1,
          index -> {
            if (index == SUBMITTERS) {
              // This does what the watchdog does, only more often.
              while (submitting.get() > 0 || left.stream().anyMatch(task -> !task.isCompleted())) {
                queue.runNeglected();
                Thread.yield();
              }
              return null;
            }
            Random random = new Random(seed + index);
            for (int i = 0; i < COLLECTIVES; i++) {
              CollectiveTask task =
                  submit(
                      number -> {
                        together.addAndGet(running.compareAndSet(false, true) ? 0 : 1);
                        order.add(number);
                        running.set(false);
                      });
              switch (random.nextInt(3)) {
                case 0 -> task.await();
                case 1 -> left.add(task);
                default -> {
                  left.add(task);
                  CollectiveTask oldest = left.poll();
                  if (oldest != null) {
                    oldest.await();
                  }
                }
              }
            }
            submitting.decrementAndGet();
            return null;
          });
    }
    Eventually.holds(() -> !queue.isRunning(), () -> "a task is still running");
    int all = SUBMITTERS * COLLECTIVES;
    assertThat(together).hasValue(0);
    assertThat(order).containsExactlyElementsOf(LongStream.range(0, all).boxed().toList());
    assertThat(queue.progress().lastCompleted()).isEqualTo(all - 1);
    assertThat(queue.lastSequenceNumber()).isEqualTo(all - 1);
  }

  @Test
  void tasksLeftInAClosedQueueNeedNoThread() {
    AtomicBoolean ran = new AtomicBoolean();
    List<Runnable> handed = new ArrayList<>();
    OperationQueue lazy = new OperationQueue(monitor, handed::add);
    submit(lazy, number -> ran.set(true));

    lazy.close();
    handed.forEach(Runnable::run);

    assertThat(handed).hasSize(1);
    assertThat(lazy.isRunning()).isFalse();
    assertThat(ran).isFalse();
    assertThatThrownBy(() -> submit(lazy, number -> {}))
        .isInstanceOf(IllegalStateException.class)
        .hasMessageContaining("closed");
  }

  @RepeatedTest(5)
  void whoSeesACollectiveCompletedGetsNothingOfItsExtension() {
    for (int i = 0; i < 2000; i++) {
      monitor.ephemeralTimeout().extend(LONG);
      CollectiveTask task = submit(number -> {});
      executor.execute(queue::runNeglected);
      executor.execute(queue::runNeglected);
      while (!task.isCompleted()) {
        Thread.onSpinWait();
      }
      assertThat(monitor.ephemeralTimeout().take().duration()).isZero();
    }
  }
}
