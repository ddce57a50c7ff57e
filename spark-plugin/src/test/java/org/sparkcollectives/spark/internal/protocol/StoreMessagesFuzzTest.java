package org.sparkcollectives.spark.internal.protocol;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;

import com.code_intelligence.jazzer.junit.FuzzTest;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.UUID;
import java.util.stream.Stream;
import org.junit.jupiter.params.provider.MethodSource;
import org.sparkcollectives.Failure;
import org.sparkcollectives.RankLocation;
import org.sparkcollectives.store.StoreException;

/**
 * Tests that any bytes are a message to the driver's store, or are refused with a message; the same
 * for replies.
 */
class StoreMessagesFuzzTest {

  private static final UUID SESSION = new UUID(1, 2);
  private static final StageAttempt STAGE = new StageAttempt(3, 1);

  static Stream<byte[]> seeds() {
    byte[] negativeLength = StoreMessages.tearDown(SESSION, Duration.ZERO, "");
    negativeLength[negativeLength.length - 1] = -1;
    negativeLength[negativeLength.length - 4] = -1;
    Failure ifLost =
        new Failure(
            Failure.Kind.EXECUTOR_LOST, new RankLocation(1, "host", "2", 7), "", -1, "it is gone");
    byte[] open =
        StoreMessages.open(SESSION, new JoinRequest(STAGE, "call", "application/world", ifLost));
    return Stream.of(
        open,
        StoreMessages.run(SESSION, new RunRequest("1", 2, STAGE, 7, "host", "1")),
        StoreMessages.quorum(
            SESSION,
            new QuorumRequest("spark:1", "weights", new StateVersion(2, 3), true, List.of(4L))),
        StoreMessages.checkpoints(SESSION, SESSION),
        StoreMessages.call(SESSION, new byte[] {7}),
        StoreMessages.will(SESSION, "group", new byte[] {7}),
        StoreMessages.dump(SESSION, STAGE, "failure", new byte[] {7}),
        StoreMessages.tearDown(SESSION, Duration.ofSeconds(1), "rank 1 is late"),
        StoreMessages.upload(SESSION, 1 << 30),
        StoreMessages.piece(SESSION, 5, new byte[] {7, 8, 9}, 1, 2),
        StoreMessages.discard(SESSION, 5),
        StoreMessages.room(SESSION),
        StoreMessages.close(SESSION),
        StoreMessages.statistics(
            SESSION, new ExecutorReport("1", "host", ProcessStatistics.NONE, List.of()).encode()),
        StoreMessages.thrown(STAGE, "call", new byte[] {7}),
        StoreMessages.ok(new byte[] {7}),
        StoreMessages.refused("no"),
        negativeLength,
        Arrays.copyOf(open, open.length - 1),
        Arrays.copyOf(open, 19),
        new byte[0]);
  }

  /** Reads a message as the driver does, and writes it again. */
  private static byte[] again(ByteBuffer message) {
    byte kind = StoreMessages.kind(message);
    UUID session = StoreMessages.session(message);
    return switch (kind) {
      case StoreMessages.OPEN -> StoreMessages.open(session, StoreMessages.joinRequest(message));
      case StoreMessages.CHECKPOINTS ->
          StoreMessages.checkpoints(session, StoreMessages.session(message));
      case StoreMessages.RUN -> StoreMessages.run(session, StoreMessages.runRequest(message));
      case StoreMessages.QUORUM ->
          StoreMessages.quorum(session, QuorumRequest.decode(StoreMessages.rest(message)));
      case StoreMessages.CALL -> StoreMessages.call(session, StoreMessages.rest(message));
      case StoreMessages.WILL ->
          StoreMessages.will(session, StoreMessages.text(message), StoreMessages.rest(message));
      case StoreMessages.DUMP ->
          StoreMessages.dump(
              session,
              StoreMessages.stage(message),
              StoreMessages.text(message),
              StoreMessages.rest(message));
      case StoreMessages.TEAR_DOWN ->
          StoreMessages.tearDown(
              session,
              Duration.ofMillis(StoreMessages.millis(message)),
              StoreMessages.text(message));
      case StoreMessages.UPLOAD -> StoreMessages.upload(session, StoreMessages.size(message));
      case StoreMessages.PIECE -> {
        long upload = StoreMessages.upload(message);
        byte[] piece = StoreMessages.rest(message);
        yield StoreMessages.piece(session, upload, piece, 0, piece.length);
      }
      case StoreMessages.DISCARD -> StoreMessages.discard(session, StoreMessages.upload(message));
      case StoreMessages.ROOM -> StoreMessages.room(session);
      case StoreMessages.CLOSE -> StoreMessages.close(session);
      case StoreMessages.STATISTICS ->
          StoreMessages.statistics(session, StoreMessages.rest(message));
      case StoreMessages.THROWN ->
          StoreMessages.thrown(
              StoreMessages.stage(message),
              StoreMessages.text(message),
              StoreMessages.rest(message));
      default -> throw new IllegalArgumentException("a message of kind " + kind);
    };
  }

  @MethodSource("seeds")
  @FuzzTest
  void anyBytesAreAMessageOrRefused(byte[] bytes) {
    byte[] first;
    try {
      first = again(ByteBuffer.wrap(bytes));
    } catch (IllegalArgumentException e) {
      assertThat(e).hasMessageStartingWith("a message of");
      first = new byte[0];
    }
    if (first.length > 0) {
      assertThat(again(ByteBuffer.wrap(first))).isEqualTo(first);
    }
    assertThatCode(
            () -> {
              try {
                byte[] content = StoreMessages.unwrap(bytes);
                assertThat(StoreMessages.ok(content)).isEqualTo(bytes);
              } catch (StoreException e) {
                assertThat(e.getMessage()).isNotNull();
              }
            })
        .doesNotThrowAnyException();
  }
}
