package org.sparkcollectives.engine;

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
import org.sparkcollectives.DType;
import org.sparkcollectives.ErrorHandling;
import org.sparkcollectives.OpType;
import org.sparkcollectives.RankContext;
import org.sparkcollectives.internal.failure.GroupMonitor;
import org.sparkcollectives.internal.failure.HeartbeatTurn;
import org.sparkcollectives.internal.failure.OperationDescription;
import org.sparkcollectives.internal.failure.RankHeartbeat;
import org.sparkcollectives.internal.failure.RankHost;
import org.sparkcollectives.internal.failure.TimeLimit;
import org.sparkcollectives.membership.Membership;
import org.sparkcollectives.store.HashStore;
import org.sparkcollectives.testing.Eventually;
import org.sparkcollectives.testing.Threads;
import org.sparkcollectives.transport.Endpoint;

/** Who runs a collective: whoever awaits it, or a thread of the executor, and never both. */
class ChannelTest {

  private static final int SUBMITTERS = 3;
  private static final int COLLECTIVES = 2000;
  private static final Duration LONG = Duration.ofMinutes(10);

  private final ExecutorService executor = Executors.newCachedThreadPool();
  private final HashStore store = new HashStore();
  private final Channel channel = new Channel(executor);
  private GroupMonitor monitor;

  @BeforeEach
  void begin() {
    RankContext context = RankContext.process();
    Endpoint self = new Endpoint(0, "node", "host", "127.0.0.1", 1, "executor", 2, -1);
    Membership alone = Membership.withoutPeers("group", "a test", self, 1);
    RankHost host = new RankHost(context, executor);
    RankHeartbeat none = new RankHeartbeat(alone, store, false, new HeartbeatTurn(), host);
    monitor = new GroupMonitor(alone, store, ErrorHandling.CLEAN_UP_ONLY, none, host);
  }

  @AfterEach
  void end() {
    monitor.close();
    store.close();
    executor.shutdownNow();
  }

  private CollectiveTask submit(LongConsumer body) {
    return submit(channel, body);
  }

  private CollectiveTask submit(Channel channel, LongConsumer body) {
    OperationDescription barrier =
        OperationDescription.collective(OpType.BARRIER, DType.UINT8, 0, 0, 0);
    return channel.submit(
        number ->
            new CollectiveTask(
                channel,
                monitor,
                barrier,
                number,
                new TimeLimit(LONG, LONG),
                List.of(),
                () -> body.accept(number)));
  }

  @Test
  void anOperationThatIsRefusedBecauseTheGroupIsBeingClosedHasNoNumber() {
    monitor.state().beginClose();
    assertThatThrownBy(
            () ->
                channel.begin(
                    number ->
                        new CollectiveTask(
                            channel,
                            monitor,
                            OperationDescription.collective(OpType.BARRIER, DType.UINT8, 0, 0, 0),
                            number,
                            new TimeLimit(LONG, LONG),
                            List.of(),
                            () -> {})))
        .isInstanceOf(IllegalStateException.class)
        .hasMessageContaining("is closed");
    assertThat(channel.lastSequenceNumber()).isEqualTo(-1);
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
              // As the watchdog does, only more often.
              while (submitting.get() > 0 || left.stream().anyMatch(task -> !task.isCompleted())) {
                channel.runNeglected();
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
    Eventually.holds(() -> !channel.isRunning(), () -> "a task is still running");
    int all = SUBMITTERS * COLLECTIVES;
    assertThat(together).hasValue(0);
    assertThat(order).containsExactlyElementsOf(LongStream.range(0, all).boxed().toList());
    assertThat(channel.progress().lastCompleted()).isEqualTo(all - 1);
    assertThat(channel.lastSequenceNumber()).isEqualTo(all - 1);
  }

  @Test
  void whatIsLeftInTheQueueOfAClosedChannelNeedsNoThread() {
    AtomicBoolean ran = new AtomicBoolean();
    List<Runnable> handed = new ArrayList<>();
    Channel lazy = new Channel(handed::add);
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
      executor.execute(channel::runNeglected);
      executor.execute(channel::runNeglected);
      while (!task.isCompleted()) {
        Thread.onSpinWait();
      }
      assertThat(monitor.ephemeralTimeout().take().duration()).isZero();
    }
  }
}
