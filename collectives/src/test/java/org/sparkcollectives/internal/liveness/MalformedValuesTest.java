package org.sparkcollectives.internal.liveness;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.sparkcollectives.spi.RankContext;
import org.sparkcollectives.store.Deadline;
import org.sparkcollectives.store.HashStore;
import org.sparkcollectives.testing.Eventually;

/** Tests what a rank does with values in its group's store that this library has not written. */
class MalformedValuesTest {

  private ExecutorService executor;
  private HashStore store;
  private final List<ProgressInquiry> inquiries = new ArrayList<>();

  @BeforeEach
  void begin() {
    executor = Executors.newCachedThreadPool();
    store = new HashStore();
  }

  @AfterEach
  void end() {
    inquiries.forEach(ProgressInquiry::close);
    store.close();
    executor.shutdownNow();
  }

  private static byte[] left(int rank, long last) {
    return ByteBuffer.allocate(12).putInt(rank).putLong(last).array();
  }

  @Test
  void ranksThatThereAreNotAndLeaveHideNoOthers() {
    try (LeaveTracker own = leaves(0, 3);
        LeaveTracker other = leaves(2, 3)) {
      store.append("departures", left(3, 7));
      store.append("departures", left(-1, 7));
      store.append("departures", left(1, Long.MIN_VALUE));
      other.leave(4, Deadline.after(Duration.ofMinutes(1)));
      Eventually.holds(() -> own.leftBefore(5) == 2, () -> "rank 2 has left");
      assertThat(own.hasLeft(1)).isFalse();
      assertThat(own.leftBefore(4)).isEqualTo(-1);
    }
  }

  @Test
  void halfARecordOfALeaveIsNone() {
    try (LeaveTracker own = leaves(0, 2);
        LeaveTracker other = leaves(1, 2)) {
      other.leave(4, Deadline.after(Duration.ofMinutes(1)));
      store.append("departures", new byte[] {0, 0, 0, 0, 1});
      Eventually.holds(() -> own.leftBefore(5) == 1, () -> "rank 1 has left");
      assertThat(own.hasLeft(0)).isFalse();
    }
  }

  private LeaveTracker leaves(int rank, int size) {
    return new LeaveTracker(
        store, Ranks.membership(rank, size), new RankHost(RankContext.process(), executor));
  }

  private ProgressInquiry inquiry(int rank, long lastCalled) {
    ProgressInquiry inquiry =
        new ProgressInquiry(
            store,
            Ranks.membership(rank, 3),
            () -> ThreadStack.of(Thread.currentThread()),
            new RankHost(RankContext.process(), executor));
    inquiry.open(() -> new RankProgress(lastCalled, lastCalled, "barrier #" + lastCalled));
    inquiries.add(inquiry);
    return inquiry;
  }

  @Test
  void anAnswerThatIsNoneCountsAsNone() {
    ProgressInquiry asking = inquiry(0, 5);
    inquiry(2, 5);
    store.set("progress/answer/0/1", new byte[] {1, 2, 3});
    ProgressAnswers answers = asking.ask(5);
    assertThat(answers.missing(5)).containsExactly(1);
    assertThat(answers.progress().get(2)).isEqualTo(new RankProgress(5, 5, "barrier #5"));
  }

  @Test
  void aQuestionThatIsNoneIsNotTheLastThatIsAnswered() {
    ProgressInquiry asking = inquiry(0, 5);
    inquiry(1, 4);
    inquiry(2, 5);
    store.set("progress/question/0", new byte[] {1});
    Eventually.holds(
        () -> {
          ProgressAnswers answers = asking.ask(5);
          return answers.missing(5).equals(List.of(1)) && answers.progress().get(1) != null;
        },
        () -> "the next question is answered");
  }
}
