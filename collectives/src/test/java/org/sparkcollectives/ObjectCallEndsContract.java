package org.sparkcollectives;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;

import com.esotericsoftware.kryo.Kryo;
import com.esotericsoftware.kryo.KryoSerializable;
import com.esotericsoftware.kryo.io.Input;
import com.esotericsoftware.kryo.io.Output;
import java.time.Duration;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BiFunction;
import java.util.function.Function;
import org.junit.jupiter.api.Test;

/** Specifies object calls that end before they are done. */
interface ObjectCallEndsContract extends RanksUnderTest {

  /**
   * The text with which errors name the timeout of the whole call, whichever frame was under way.
   */
  String TIMED_OUT = "timed out after 0.4 s";

  /** An object each of whose frames comes in time, but not all together. */
  static final class Slow implements KryoSerializable {
    static final Duration TIMEOUT = Duration.ofMillis(400);
    private static final long PAUSE_NANOS = TIMEOUT.toNanos() * 2 / 3;
    private static final int PIECES = 4;

    @Override
    public void write(Kryo kryo, Output output) {
      for (int i = 0; i < PIECES; i++) {
        // Each of these fills a frame, and so sends the one before.
        output.writeBytes(new byte[5_000_000]);
        LockSupport.parkNanos(PAUSE_NANOS);
      }
    }

    @Override
    public void read(Kryo kryo, Input input) {
      for (int i = 0; i < PIECES; i++) {
        input.readBytes(5_000_000);
      }
    }
  }

  @Test
  default void anAbortWakesRanksInTheMiddleOfAnObject() {
    Function<ProcessGroup, Object> large = group -> Samples.bytes(30_000_000, group.rank());
    ranks(
        3,
        group -> {
          if (group.rank() == 2) {
            // All ranks are in the second frame of rank 0's object now, or will be.
            group
                .allGather(Tensor.allocate(DType.INT8, 3 * 1024), Tensor.allocate(DType.INT8, 1024))
                .await();
            group.abort(new IllegalStateException("enough"));
          } else {
            assertThatThrownBy(() -> group.objects().allGather(large.apply(group)))
                .isInstanceOf(PeerFailedException.class)
                .hasMessageContaining("enough");
            assertThatThrownBy(() -> group.objects().allGather("again"))
                .isInstanceOf(CollectiveException.class);
          }
          return null;
        });
  }

  @Test
  default void aClosedGroupRefuses() {
    ranks(
        1,
        group -> {
          assertThat(group.objects().allGather("x")).isEqualTo(List.of("x"));
          assertThat(group.objects().gather("x", 0)).isEqualTo(List.of("x"));
          assertThat(group.objects().scatter(Collections.singletonList("x"), 0)).isEqualTo("x");
          group.close();
          assertThatThrownBy(() -> group.objects().broadcast("x", 0))
              .isInstanceOf(IllegalStateException.class);
          return null;
        });
  }

  @Test
  default void theTimeoutBoundsTheWholeCall() {
    List<BiFunction<ObjectCollectives, Object, Object>> calls =
        List.of(
            (objects, mine) -> objects.broadcast(mine, 1),
            ObjectCollectives::allGather,
            (objects, mine) -> objects.gather(mine, 0),
            (objects, mine) ->
                objects.scatter(Arrays.asList("a", mine, Samples.bytes(5_000_000, 2)), 0));
    for (BiFunction<ObjectCollectives, Object, Object> call : calls) {
      CountDownLatch ready = new CountDownLatch(3);
      CountDownLatch ended = new CountDownLatch(3);
      List<String> messages =
          ranks(
              3,
              group -> {
                boolean slow = calls.indexOf(call) == 3 ? group.rank() == 0 : group.rank() == 1;
                Object mine = slow ? new Slow() : Samples.bytes(5_000_000, group.rank());
                ObjectCollectives objects = group.withTimeout(Slow.TIMEOUT).objects();
                // No rank begins before all are ready.
                ready.countDown();
                ready.await();
                Throwable thrown = catchThrowable(() -> call.apply(objects, mine));
                // No rank leaves what others are still in.
                ended.countDown();
                ended.await();
                return String.valueOf(thrown);
              });
      // The first rank to give up closes its connections, which others may notice before they give
      // up.
      assertThat(messages)
          .as("call %s", calls.indexOf(call))
          .allMatch(each -> each.contains(TIMED_OUT) || each.contains("connection was lost"))
          .anyMatch(each -> each.contains(TIMED_OUT))
          .noneMatch(each -> each.replace(TIMED_OUT, "").contains("timed out after"));
    }
  }
}
