package org.sparkcollectives.internal.transport.heap;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.sparkcollectives.CollectiveMismatchException;
import org.sparkcollectives.DType;
import org.sparkcollectives.OpType;
import org.sparkcollectives.internal.transport.Cancellation;
import org.sparkcollectives.internal.transport.EventCount;
import org.sparkcollectives.internal.transport.OperationHeader;
import org.sparkcollectives.internal.transport.Progress;
import org.sparkcollectives.spi.tensor.HostTensor;
import org.sparkcollectives.testing.Eventually;
import org.sparkcollectives.testing.RankThreads;

/** Tests the tensors that ranks of one JVM publish to each other, and how they take them back. */
class HeapRegionTest {

  /** One rank of a region. */
  private static final class Rank implements Cancellation {
    private final AtomicReference<RuntimeException> end = new AtomicReference<>();
    private final Progress progress = new Progress(new EventCount(Duration.ZERO), this);
    private final HeapRegion region;
    private OperationHeader header = header(0);

    Rank(HeapGroup group, int rank, int size) {
      group.join(rank, progress);
      region =
          new HeapRegion(group, rank, IntStream.range(0, size).toArray(), progress, () -> header);
    }

    static OperationHeader header(long number) {
      return new OperationHeader(OpType.ALL_REDUCE, number, DType.INT32, 1);
    }

    void fail(String why) {
      end.set(new IllegalStateException(why));
      progress.signal();
    }

    @Override
    public void check() {
      if (end.get() != null) {
        throw end.get();
      }
    }

    @Override
    public void interrupted() {
      fail("interrupted");
    }
  }

  private final HeapGroup group = new HeapGroup();

  private static HostTensor tensor(int... values) {
    return HostTensor.wrap(DType.INT32, values);
  }

  private static int value(HostTensor tensor) {
    return ((int[]) tensor.array())[0];
  }

  @Test
  void eachRankSeesWhatTheOthersShowForTheSameOperation() {
    // Ranks that yield to others' work take long for each operation; rank 0 says which is the last.
    long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(5);
    List<Integer> sums =
        RankThreads.run(
            4,
            number -> {
              Rank rank = new Rank(group, number, 4);
              int sum = 0;
              boolean last = false;
              for (int operation = 0; !last; operation++) {
                rank.header = Rank.header(operation);
                int lastOfMine = operation < 10_000 && System.nanoTime() - end < 0 ? 0 : 1;
                rank.region.publish(List.of(tensor(operation + number), tensor(lastOfMine)));
                last = value(rank.region.publishedBy(0, 1, DType.INT32, 1)) == 1;
                for (int peer = 0; peer < 4; peer++) {
                  int published = value(rank.region.publishedBy(peer, 0, DType.INT32, 1));
                  assertThat(published).isEqualTo(operation + peer);
                  sum += published;
                }
                // Both ways to end an operation, in any order.
                if (operation % 3 == 0) {
                  rank.region.leave();
                } else {
                  rank.region.finish();
                }
              }
              return sum;
            });
    assertThat(sums).containsOnly(sums.get(0));
  }

  @Test
  void ranksInDifferentOperationsAreBothNamed() {
    RankThreads.run(
        2,
        number -> {
          Rank rank = new Rank(group, number, 2);
          rank.header = Rank.header(7 + number);
          assertThatThrownBy(() -> rank.region.publish(List.of()))
              .isInstanceOf(CollectiveMismatchException.class)
              .hasMessageContaining("rank 0 is in all-reduce #7")
              .hasMessageContaining("rank 1 is in all-reduce #8");
          return null;
        });
  }

  @Test
  void aTensorOfAnotherTypeOrCountIsRefusedNamingBoth() {
    RankThreads.run(
        2,
        number -> {
          Rank rank = new Rank(group, number, 2);
          rank.region.publish(List.of(tensor(1, 2)));
          assertThatThrownBy(() -> rank.region.publishedBy(1 - number, 0, DType.INT32, 3))
              .isInstanceOf(CollectiveMismatchException.class)
              .hasMessageContaining("int32 x 2, but rank " + number)
              .hasMessageContaining("expects int32 x 3");
          assertThatThrownBy(() -> rank.region.publishedBy(1 - number, 1, DType.INT32, 2))
              .isInstanceOf(CollectiveMismatchException.class)
              .hasMessageContaining("no such tensor");
          return null;
        });
  }

  private static void awaitQuietly(CountDownLatch latch) {
    try {
      assertThat(latch.await(60, TimeUnit.SECONDS)).isTrue();
    } catch (InterruptedException e) {
      throw new IllegalStateException(e);
    }
  }

  /** A rank that reads what all publish until it is let go on, and says then that it is done. */
  private CompletableFuture<Void> reader(
      Rank rank, CountDownLatch reading, CountDownLatch mayGoOn, Consumer<HeapRegion> end) {
    return CompletableFuture.runAsync(
        () -> {
          rank.region.publish(List.of(tensor(2)));
          reading.countDown();
          try {
            mayGoOn.await();
          } catch (InterruptedException e) {
            throw new IllegalStateException(e);
          }
          end.accept(rank.region);
        });
  }

  private static void assertThatItFails(Rank rank, CompletableFuture<Void> reader) {
    assertThat(reader).isNotDone();
    rank.fail("rank 0 has failed");
    assertThatThrownBy(() -> reader.get(30, TimeUnit.SECONDS))
        .isInstanceOf(ExecutionException.class)
        .hasStackTraceContaining("rank 0 has failed");
  }

  @Test
  void aRankThatGivesUpWaitsForOneThatReadsItsDirectBuffer() throws Exception {
    Rank first = new Rank(group, 0, 2);
    Rank second = new Rank(group, 1, 2);
    CountDownLatch reading = new CountDownLatch(1);
    CountDownLatch mayGoOn = new CountDownLatch(1);
    CompletableFuture<Void> reader = reader(second, reading, mayGoOn, HeapRegion::check);
    ByteBuffer direct = ByteBuffer.allocateDirect(4).order(ByteOrder.nativeOrder());
    first.region.publish(List.of(HostTensor.wrap(DType.INT32, direct)));
    reading.await();

    CompletableFuture<Void> givingUp = CompletableFuture.runAsync(first.region::abandon);
    Eventually.holds(group.phases(2)::isBroken, () -> "rank 0 gives up");
    assertThat(givingUp).isNotDone();
    mayGoOn.countDown();
    givingUp.get(30, TimeUnit.SECONDS);
    assertThatItFails(second, reader);
  }

  @Test
  void aRankThatGivesUpWaitsForOneThatWritesToItsTensor() throws Exception {
    Rank first = new Rank(group, 0, 2);
    Rank second = new Rank(group, 1, 2);
    CountDownLatch writing = new CountDownLatch(1);
    CountDownLatch mayGoOn = new CountDownLatch(1);
    CompletableFuture<Void> writer =
        CompletableFuture.runAsync(
            () -> {
              second.region.publish(List.of(tensor(2)));
              assertThat(second.region.mayWriteTo(0, 0)).isTrue();
              writing.countDown();
              awaitQuietly(mayGoOn);
              second.region.publishedBy(0, 0, DType.INT32, 1).copyFrom(new int[] {2});
              second.region.check();
            });
    HostTensor mine = tensor(1);
    first.region.publish(List.of(mine));
    awaitQuietly(writing);

    CompletableFuture<Void> givingUp = CompletableFuture.runAsync(first.region::abandon);
    Eventually.holds(group.phases(2)::isBroken, () -> "rank 0 gives up");
    assertThat(givingUp).isNotDone();
    mayGoOn.countDown();
    givingUp.get(30, TimeUnit.SECONDS);
    assertThat(value(mine)).as("written before rank 0 took its tensor back").isEqualTo(2);
    assertThatItFails(second, writer);
  }

  @Test
  void nobodyBeginsToWriteOnceARankHasGivenUp() throws Exception {
    Rank first = new Rank(group, 0, 2);
    Rank second = new Rank(group, 1, 2);
    CountDownLatch reading = new CountDownLatch(1);
    CountDownLatch mayGoOn = new CountDownLatch(1);
    CompletableFuture<Void> writer =
        reader(second, reading, mayGoOn, region -> region.mayWriteTo(0, 0));
    first.region.publish(List.of(tensor(1)));
    awaitQuietly(reading);
    first.region.abandon();
    mayGoOn.countDown();
    Eventually.holds(() -> !group.phases(2).someoneIsInside(), () -> "rank 1 leaves");
    assertThatItFails(second, writer);
  }

  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void aRankThatGivesUpDoesNotWaitForOneThatIsStuckWhichFailsLater(boolean waitsForAll)
      throws Exception {
    Rank first = new Rank(group, 0, 2);
    Rank second = new Rank(group, 1, 2);
    CountDownLatch reading = new CountDownLatch(1);
    CountDownLatch mayGoOn = new CountDownLatch(1);
    CompletableFuture<Void> reader =
        reader(second, reading, mayGoOn, waitsForAll ? HeapRegion::finish : HeapRegion::leave);
    first.region.publish(List.of(tensor(1)));
    reading.await();
    // It is done itself, but does not know that all others are.
    first.region.leave();

    first.region.abandon();
    mayGoOn.countDown();
    Eventually.holds(() -> !group.phases(2).someoneIsInside(), () -> "rank 1 has read");
    assertThatItFails(second, reader);
  }

  @Test
  void whatARankShowsAfterItHasGivenUpFailsNoOperationThatWasDoneBefore() {
    RankThreads.run(
        2,
        number -> {
          Rank rank = new Rank(group, number, 2);
          rank.region.publish(List.of(tensor(number)));
          if (number == 0) {
            rank.region.finish();
            rank.region.abandon();
          } else {
            rank.region.leave();
            Eventually.holds(group.phases(2)::isBroken, () -> "rank 0 gives up");
            rank.region.finish();
          }
          return null;
        });
  }

  @Test
  void aRankWaitsForWhatAnotherPublishesAndNoLongerWhenItGivesUp() throws Exception {
    Rank first = new Rank(group, 0, 2);
    Rank second = new Rank(group, 1, 2);
    CompletableFuture<Void> taker =
        CompletableFuture.runAsync(
            () -> {
              second.region.publish(List.of());
              second.region.awaitProgress(0, 5);
              assertThat(second.region.progressOf(0)).isEqualTo(7);
              second.region.awaitProgress(0, 8);
            });
    first.region.publish(List.of());
    first.region.publishProgress(4);
    first.region.publishProgress(7);
    first.region.abandon();
    assertThatItFails(second, taker);
  }

  @Test
  void nobodyBeginsToWorkOnceARankHasGivenUp() throws Exception {
    Rank first = new Rank(group, 0, 2);
    Rank second = new Rank(group, 1, 2);
    first.fail("killed");
    CompletableFuture<Void> late =
        CompletableFuture.runAsync(
            () -> {
              second.region.publish(List.of(tensor(2)));
              throw new AssertionError("rank 1 works on tensors that rank 0 took back");
            });
    assertThatThrownBy(() -> first.region.publish(List.of(tensor(1)))).hasMessage("killed");
    first.region.abandon();
    second.fail("rank 0 has failed");
    assertThatThrownBy(() -> late.get(30, TimeUnit.SECONDS))
        .hasStackTraceContaining("rank 0 has failed");
  }
}
