package org.sparkcollectives.spark.internal.driver;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.sparkcollectives.spark.internal.protocol.StageAttempt;
import org.sparkcollectives.spark.internal.protocol.ThrownException;

/** Tests which of the exceptions that ranks send is the first of a job. */
class ThrownExceptionsTest {

  private static final String CALL = "call";
  private static final StageAttempt STAGE = new StageAttempt(3, 0);
  private static final Duration LONG = Duration.ofMinutes(2);

  private final ThrownExceptions thrown = new ThrownExceptions();

  private static byte[] exception(String message) {
    return ThrownException.encode(new IllegalStateException(message));
  }

  private Optional<String> now(StageAttempt stage) throws InterruptedException {
    return thrown.await(CALL, stage, Duration.ZERO).map(Throwable::getMessage);
  }

  @Test
  void theFirstExceptionIsKept() throws InterruptedException {
    thrown.expect(CALL);
    thrown.receive(CALL, STAGE, exception("first"));
    thrown.receive(CALL, STAGE, exception("second"));
    assertThat(now(STAGE)).hasValue("first");
    assertThat(now(STAGE)).as("again").hasValue("first");
  }

  @Test
  void ofTwoRanksThatThrowAtOnceAllWhoAskGetTheSame() throws InterruptedException {
    for (int round = 0; round < 100; round++) {
      thrown.expect(CALL);
      CountDownLatch begin = new CountDownLatch(1);
      List<CompletableFuture<Void>> ranks =
          List.of("rank 0", "rank 1").stream()
              .map(rank -> CompletableFuture.runAsync(() -> receiveAfter(begin, rank)))
              .toList();
      begin.countDown();
      Optional<String> first = thrown.await(CALL, STAGE, LONG).map(Throwable::getMessage);
      assertThat(first).hasValueSatisfying(who -> assertThat(who).startsWith("rank "));
      ranks.forEach(CompletableFuture::join);
      assertThat(now(STAGE)).isEqualTo(first);
    }
  }

  private void receiveAfter(CountDownLatch begin, String rank) {
    try {
      begin.await();
    } catch (InterruptedException e) {
      throw new AssertionError(e);
    }
    thrown.receive(CALL, STAGE, exception(rank));
  }

  @Test
  void anExceptionThatIsOnItsWayIsWaitedFor() throws InterruptedException {
    thrown.expect(CALL);
    CompletableFuture<Void> later =
        CompletableFuture.runAsync(
            () -> thrown.receive(CALL, STAGE, exception("late")),
            CompletableFuture.delayedExecutor(20, TimeUnit.MILLISECONDS));
    assertThat(thrown.await(CALL, STAGE, LONG))
        .get()
        .hasToString("java.lang.IllegalStateException: late");
    later.join();
  }

  /** Spark has retried the stage, and what ended the job is what its last attempt threw. */
  @Test
  void eachAttemptOfAStageHasAFirstExceptionOfItsOwn() throws InterruptedException {
    StageAttempt retried = new StageAttempt(3, 1);
    thrown.expect(CALL);
    thrown.receive(CALL, STAGE, exception("first attempt"));
    assertThat(now(retried)).isEmpty();
    thrown.receive(CALL, retried, exception("second attempt"));
    thrown.receive(CALL, STAGE, exception("a late rank of the first attempt"));
    assertThat(now(retried)).hasValue("second attempt");
    assertThat(now(STAGE)).hasValue("first attempt");
  }

  @Test
  void aJobThatIsSubmittedAgainHasNoneOfTheJobBefore() throws InterruptedException {
    StageAttempt again = new StageAttempt(4, 0);
    thrown.expect(CALL);
    thrown.receive(CALL, STAGE, exception("first job"));
    thrown.expect(CALL);
    thrown.receive(CALL, STAGE, exception("a late rank of the first job"));
    assertThat(now(again)).isEmpty();
    thrown.receive(CALL, again, exception("second job"));
    assertThat(now(again)).hasValue("second job");
  }

  @Test
  void anExceptionThatCouldNotBeSentIsNotWaitedFor() throws InterruptedException {
    thrown.expect(CALL);
    thrown.receive(CALL, STAGE, new byte[0]);
    assertThat(thrown.await(CALL, STAGE, LONG)).isEmpty();
  }

  @Test
  void ofACallThatIsNotExpectedNothingIsKept() throws InterruptedException {
    thrown.receive(CALL, STAGE, exception("before"));
    assertThat(thrown.await(CALL, STAGE, LONG)).isEmpty();
    thrown.expect(CALL);
    assertThat(now(STAGE)).isEmpty();
    thrown.release(CALL);
    thrown.receive(CALL, STAGE, exception("after"));
    assertThat(thrown.await(CALL, STAGE, LONG)).isEmpty();
  }
}
