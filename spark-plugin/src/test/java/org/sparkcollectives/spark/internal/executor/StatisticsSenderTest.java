package org.sparkcollectives.spark.internal.executor;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.ref.WeakReference;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.sparkcollectives.GroupOptions;
import org.sparkcollectives.ProcessGroup;
import org.sparkcollectives.ProcessGroups;
import org.sparkcollectives.Tensor;
import org.sparkcollectives.spark.internal.protocol.ExecutorReport;
import org.sparkcollectives.spark.internal.protocol.ProcessStatistics;
import org.sparkcollectives.spark.internal.protocol.RankReport;
import org.sparkcollectives.spark.internal.protocol.StageAttempt;
import org.sparkcollectives.spark.internal.protocol.StoreMessages;
import org.sparkcollectives.store.HashStore;
import org.sparkcollectives.store.StoreConnectionException;
import org.sparkcollectives.testing.Eventually;

/** Tests when an executor reports its ranks, whatever the driver does. */
class StatisticsSenderTest {

  private static final StageAttempt STAGE = new StageAttempt(1, 0);

  private final Queue<Runnable> later = new ArrayDeque<>();
  private final List<ExecutorReport> sent = new ArrayList<>();
  private final HashStore store = new HashStore();
  private final ProcessGroup group =
      ProcessGroups.create(store, 0, 1, GroupOptions.defaults().withName("alone"));

  /** The driver's answer to each report. */
  private CompletableFuture<byte[]> answer = CompletableFuture.completedFuture(new byte[0]);

  private final ScheduledThreadPoolExecutor executor =
      new ScheduledThreadPoolExecutor(1) {
        @Override
        public ScheduledFuture<?> schedule(Runnable step, long delay, TimeUnit unit) {
          later.add(step);
          return null;
        }
      };

  @AfterEach
  void close() {
    group.close();
    store.close();
    executor.shutdown();
  }

  private StatisticsSender sender(Duration interval) {
    return new StatisticsSender(
        new StatisticsSender.Origin("7", "host", () -> ProcessStatistics.NONE), interval, executor);
  }

  private DriverLink link() {
    return new AnsweringLink(this::take);
  }

  private CompletableFuture<byte[]> take(byte[] message) {
    ByteBuffer read = ByteBuffer.wrap(message);
    assertThat(StoreMessages.kind(read)).isEqualTo(StoreMessages.STATISTICS);
    StoreMessages.session(read);
    sent.add(ExecutorReport.decode(StoreMessages.rest(read)));
    return answer;
  }

  /** Lets an interval pass. */
  private void pass() {
    List<Runnable> due = new ArrayList<>(later);
    later.clear();
    due.forEach(Runnable::run);
  }

  private List<RankReport> ranks() {
    return sent.stream().flatMap(report -> report.ranks().stream()).toList();
  }

  @Test
  void anOpenGroupIsReportedAtIntervalsAndWhenTheRankLeaves() {
    StatisticsSender sender = sender(Duration.ofSeconds(2));
    sender.opened(link(), STAGE, 5, group, Optional.empty());
    assertThat(sent).isEmpty();
    group.allReduce(Tensor.of(1f)).await();
    pass();
    pass();
    sender.left(5, "alone");
    sender.left(5, "no such group");
    pass();
    assertThat(ranks()).extracting(RankReport::ended).containsExactly(false, false, true);
    assertThat(ranks()).allSatisfy(rank -> assertThat(rank.taskAttemptId()).isEqualTo(5));
    assertThat(ranks().get(2).statistics().operations()).isEqualTo(1);
    assertThat(sender.figures().totals().operations()).isEqualTo(1);
    assertThat(sender.figures().activeGroups()).isZero();
    assertThat(later).as("nothing is left to do").isEmpty();
  }

  @Test
  void aDriverThatDoesNotAnswerGetsNoFurtherReports() {
    answer = new CompletableFuture<>();
    StatisticsSender sender = sender(Duration.ofSeconds(2));
    sender.opened(link(), STAGE, 5, group, Optional.empty());
    for (int i = 0; i < 10; i++) {
      pass();
    }
    assertThat(sent).hasSize(1);
    sender.left(5, "alone");
    assertThat(sent).hasSize(1);
    // Now it answers, and gets the last report.
    CompletableFuture<byte[]> late = answer;
    answer = CompletableFuture.completedFuture(new byte[0]);
    late.complete(new byte[0]);
    assertThat(ranks()).extracting(RankReport::ended).containsExactly(false, true);
  }

  @Test
  void aDriverThatIsLostOrRefusesIsAskedAgainInTheNextInterval() {
    answer = CompletableFuture.failedFuture(new StoreConnectionException("lost"));
    StatisticsSender sender = sender(Duration.ofSeconds(2));
    sender.opened(link(), STAGE, 5, group, Optional.empty());
    pass();
    pass();
    assertThat(sent).hasSize(2);
    sender.left(5, "alone");
    assertThat(sent).hasSize(3);
  }

  @Test
  void nothingIsSentWithTheIntervalZeroOrWithoutAStore() {
    StatisticsSender silent = sender(Duration.ZERO);
    silent.opened(link(), STAGE, 5, group, Optional.empty());
    StatisticsSender alone = sender(Duration.ofSeconds(2));
    alone.opened(null, STAGE, 5, group, Optional.empty());
    assertThat(later).isEmpty();
    assertThat(silent.figures().activeGroups()).isEqualTo(1);
    silent.left(5, "alone");
    alone.left(5, "alone");
    assertThat(sent).isEmpty();
    assertThat(alone.figures().activeGroups()).isZero();
  }

  @Test
  void theWayToADriverIsNotKeptWhenNothingIsLeftToSend() {
    for (Duration interval : List.of(Duration.ZERO, Duration.ofSeconds(2))) {
      StatisticsSender sender = sender(interval);
      WeakReference<DriverLink> link = used(sender);
      Eventually.holdsAfterCollection(
          () -> link.get() == null, () -> "with the interval " + interval + " it is kept");
      assertThat(sender.figures().activeGroups()).isZero();
    }
  }

  private WeakReference<DriverLink> used(StatisticsSender sender) {
    DriverLink link = link();
    sender.opened(link, STAGE, 5, group, Optional.empty());
    sender.left(5, "alone");
    pass();
    return new WeakReference<>(link);
  }
}
