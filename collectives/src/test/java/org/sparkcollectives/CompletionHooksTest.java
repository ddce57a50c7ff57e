package org.sparkcollectives;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.stream.LongStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;
import org.sparkcollectives.testing.GroupRuns;
import org.sparkcollectives.testing.LeakCheck;

/** Tests which hooks are called for operations that are done. */
@ExtendWith(LeakCheck.class)
@Timeout(60)
class CompletionHooksTest {

  private static final int OPERATIONS = 500;

  @Test
  void aHookIsToldOfEachOperationInOrderBeforeTheGroupIsClosed() {
    List<List<FlightRecord>> recordsOfRanks =
        GroupRuns.run(
            2,
            GroupOptions.defaults(),
            world -> {
              List<FlightRecord> records = new CopyOnWriteArrayList<>();
              world.onCompletion(records::add);
              world.onCompletion(
                  record -> {
                    throw new IllegalStateException("what a hook throws is logged");
                  });
              world.onCompletion(
                  record ->
                      CompletionHooksTest.<RuntimeException>throwAnyway(
                          new IOException("checked ones too, as Scala's hooks do")));
              for (int i = 0; i < OPERATIONS; i++) {
                world.allReduce(Tensor.of(new float[] {1}), ReduceOp.SUM).await();
              }
              return records;
            });
    for (List<FlightRecord> ofRank : recordsOfRanks) {
      assertThat(ofRank)
          .extracting(FlightRecord::sequenceNumber)
          .containsExactlyElementsOf(LongStream.range(0, OPERATIONS).boxed().toList());
      assertThat(ofRank)
          .allSatisfy(
              record -> {
                assertThat(record.opType()).isEqualTo(OpType.ALL_REDUCE);
                assertThat(record.state()).isEqualTo(FlightRecord.State.COMPLETED);
                assertThat(record.startedNanos()).isGreaterThanOrEqualTo(record.createdNanos());
                assertThat(record.completedNanos()).isGreaterThanOrEqualTo(record.startedNanos());
              });
    }
  }

  /** Throws what Java would have declared. */
  @SuppressWarnings({"unchecked", "TypeParameterUnusedInFormals"})
  private static <E extends Exception> void throwAnyway(Exception exception) throws E {
    throw (E) exception;
  }

  @Test
  void aHookIsToldOfWhatFails() {
    List<List<FlightRecord>> recordsOfRanks =
        GroupRuns.run(
            2,
            GroupOptions.defaults(),
            world -> {
              List<FlightRecord> records = new CopyOnWriteArrayList<>();
              world.onCompletion(records::add);
              Tensor tensor = Tensor.of(new float[] {1});
              if (world.rank() == 0) {
                Work late = world.withTimeout(Duration.ofMillis(20)).recv(tensor, 1, 0);
                assertThatThrownBy(late::await).isInstanceOf(CollectiveTimeoutException.class);
              } else {
                assertThatThrownBy(() -> world.recv(tensor, 0, 0).await())
                    .isInstanceOf(CollectiveException.class);
              }
              return records;
            });
    for (List<FlightRecord> ofRank : recordsOfRanks) {
      assertThat(ofRank)
          .singleElement()
          .satisfies(
              record -> {
                assertThat(record.opType()).isEqualTo(OpType.RECV);
                assertThat(record.state()).isEqualTo(FlightRecord.State.FAILED);
              });
    }
  }

  @Test
  void aSlowHookDelaysNoOperation() {
    CountDownLatch released = new CountDownLatch(1);
    GroupRuns.run(
        2,
        GroupOptions.defaults(),
        world -> {
          world.onCompletion(
              record -> {
                try {
                  released.await();
                } catch (InterruptedException e) {
                  Thread.currentThread().interrupt();
                }
              });
          for (int i = 0; i < OPERATIONS; i++) {
            world.barrier().await();
          }
          released.countDown();
          return null;
        });
  }

  @Test
  void aClosedGroupTakesNoHook() {
    GroupRuns.run(
        1,
        GroupOptions.defaults(),
        world -> {
          world.close();
          assertThatThrownBy(() -> world.onCompletion(record -> {}))
              .isInstanceOf(IllegalStateException.class);
          return null;
        });
  }
}
