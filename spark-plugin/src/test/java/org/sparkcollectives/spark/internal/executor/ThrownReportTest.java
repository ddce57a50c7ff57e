package org.sparkcollectives.spark.internal.executor;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.apache.spark.TaskContext;
import org.apache.spark.TaskContext$;
import org.apache.spark.TaskKilledException;
import org.junit.jupiter.api.Test;
import org.sparkcollectives.Failure;
import org.sparkcollectives.PeerFailedException;
import org.sparkcollectives.RankLocation;
import org.sparkcollectives.spark.internal.protocol.StageAttempt;
import org.sparkcollectives.spark.internal.protocol.StoreMessages;
import org.sparkcollectives.spark.internal.protocol.ThrownException;
import org.sparkcollectives.store.StoreConnectionException;

/** Tests what the driver is sent when a rank's task fails. */
class ThrownReportTest {

  private final List<ByteBuffer> sent = new ArrayList<>();
  private final TaskContext task = TaskContext$.MODULE$.empty();

  private CompletableFuture<byte[]> send(byte[] message) {
    sent.add(ByteBuffer.wrap(message));
    return new CompletableFuture<>();
  }

  private void fail(Throwable thrown) {
    task.addTaskFailureListener(new ThrownReport(new AnsweringLink(this::send), "call"));
    task.markTaskFailed(thrown);
  }

  private static PeerFailedException becauseOfRank2() {
    RankLocation rank2 = new RankLocation(2, "host", "5", 17);
    return new PeerFailedException(
        "rank 2 failed", new Failure(Failure.Kind.EXCEPTION, rank2, "", -1, "row 17 is broken"));
  }

  @Test
  void whatTheRankThrowsIsSentWithItsCallAndAttemptAndNotWaitedFor() {
    fail(new IllegalArgumentException("row 17 is broken"));
    assertThat(sent).hasSize(1);
    ByteBuffer message = sent.get(0);
    assertThat(StoreMessages.kind(message)).isEqualTo(StoreMessages.THROWN);
    StoreMessages.session(message);
    assertThat(StoreMessages.stage(message))
        .isEqualTo(new StageAttempt(task.stageId(), task.stageAttemptNumber()));
    assertThat(StoreMessages.text(message)).isEqualTo("call");
    assertThat(ThrownException.decode(StoreMessages.rest(message)))
        .get()
        .hasToString("java.lang.IllegalArgumentException: row 17 is broken");
  }

  /** So the driver does not wait for it in vain. */
  @Test
  void thatSomethingWasThrownIsSentAlsoIfItCannotBe() {
    fail(new IllegalStateException("x".repeat(1 << 21)));
    ByteBuffer message = sent.get(0);
    StoreMessages.kind(message);
    StoreMessages.session(message);
    StoreMessages.stage(message);
    StoreMessages.text(message);
    assertThat(StoreMessages.rest(message)).isEmpty();
  }

  @Test
  void aRankThatFailsBecauseOfAnotherSendsNothing() {
    fail(new IllegalStateException("the step failed", becauseOfRank2()));
    assertThat(sent).isEmpty();
  }

  @Test
  void aRankThatWasKilledBecauseOfAnotherSendsNothingWhateverItThrows() {
    task.markInterrupted("Stage cancelled");
    fail(new IllegalStateException("interrupted", new TaskKilledException("Stage cancelled")));
    assertThat(sent).isEmpty();
  }

  @Test
  void causesInACircleEnd() {
    Throwable first = new IllegalStateException("first");
    first.initCause(new IllegalStateException("second", first));
    fail(first);
    assertThat(sent).hasSize(1);
  }

  @Test
  void aDriverThatIsGoneDoesNotHideWhatTheRankHasThrown() {
    ThrownReport report =
        new ThrownReport(
            new AnsweringLink(
                message -> {
                  throw new StoreConnectionException("gone", null);
                }),
            "call");
    assertThatCode(() -> report.onTaskFailure(task, new IllegalStateException("first")))
        .doesNotThrowAnyException();
  }
}
