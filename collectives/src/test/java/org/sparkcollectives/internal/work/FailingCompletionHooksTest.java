package org.sparkcollectives.internal.work;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.sparkcollectives.FlightRecord;
import org.sparkcollectives.OpType;
import org.sparkcollectives.internal.liveness.Ranks;

/** Tests what becomes of hooks when there is no thread for them. */
@Timeout(60)
class FailingCompletionHooksTest {

  private final List<Long> told = new ArrayList<>();
  private boolean threads;
  private final CompletionHooks hooks =
      new CompletionHooks(this::execute, Ranks.membership(0, 2).identity());

  private void execute(Runnable body) {
    if (!threads) {
      throw new OutOfMemoryError("unable to create native thread");
    }
    body.run();
  }

  private void tell(long number) {
    hooks.tell(() -> record(number));
  }

  private static FlightRecord record(long number) {
    return new FlightRecord(
        number,
        "g",
        OpType.BARRIER,
        number,
        "",
        List.of(),
        List.of(),
        -1,
        "",
        FlightRecord.NO_PEER,
        FlightRecord.State.COMPLETED,
        "",
        1,
        2,
        3,
        1000);
  }

  @Test
  void withoutAThreadAHookMissesOneOperationAndHearsOfTheNext() {
    hooks.add(record -> told.add(record.sequenceNumber()));
    tell(1);
    threads = true;
    tell(2);
    assertThat(told).containsExactly(2L);
    hooks.await(Duration.ofDays(1));
  }

  @Test
  void whatAHookThrowsKeepsNoOtherFromHearing() {
    threads = true;
    hooks.add(
        record -> {
          throw new StackOverflowError("of a hook");
        });
    hooks.add((FlightRecord record) -> told.add(record.sequenceNumber()));
    tell(1);
    tell(2);
    assertThat(told).containsExactly(1L, 2L);
  }
}
