package org.sparkcollectives.internal.transport.tcp;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.util.internal.PlatformDependent;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Random;
import java.util.Set;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.sparkcollectives.internal.transport.ByteSink;
import org.sparkcollectives.internal.transport.tcp.SegmentPool.Segment;
import org.sparkcollectives.testing.RankThreads;

class SegmentPoolTest {

  private static final int LARGE_BYTES = ByteSink.SEGMENT_BYTES;

  private final SegmentPool pool = new SegmentPool(SegmentPool.SMALL_BYTES, 3L * LARGE_BYTES);
  private final List<Segment> taken = new ArrayList<>();

  private Segment take(long bytes) {
    Segment segment = pool.take(bytes);
    taken.add(segment);
    return segment;
  }

  @AfterEach
  void nothingIsLeft() {
    taken.forEach(pool::giveBack);
    pool.close();
    assertThat(pool.bytes()).isZero();
  }

  @Test
  void givesAsMuchAsAMessageNeeds() {
    for (long bytes : new long[] {1, 40, SegmentPool.SMALL_BYTES, 5_000, LARGE_BYTES, 1L << 40}) {
      Segment segment = take(bytes);
      assertThat(segment.bytes().order()).isEqualTo(ByteOrder.nativeOrder());
      assertThat(segment.bytes().isDirect()).isTrue();
      assertThat(segment.bytes().remaining())
          .as("%s bytes", bytes)
          .isEqualTo((int) Math.min(bytes, LARGE_BYTES));
      assertThat(segment.bytes().capacity())
          .isEqualTo(bytes <= SegmentPool.SMALL_BYTES ? SegmentPool.SMALL_BYTES : LARGE_BYTES);
    }
  }

  @Test
  void givesSmallSegmentsWhereLargeOnesRunOut() {
    List<Segment> large = List.of(take(1 << 20), take(1 << 20), take(1 << 20));
    assertThat(large).allMatch(each -> each.bytes().remaining() == LARGE_BYTES);
    for (int i = 0; i < 100; i++) {
      assertThat(take(1 << 20).bytes().remaining()).isEqualTo(SegmentPool.SMALL_BYTES);
    }
    assertThat(pool.bytes()).isEqualTo(3L * LARGE_BYTES + 100L * SegmentPool.SMALL_BYTES);
    pool.giveBack(taken.remove(0));
    assertThat(take(1 << 20).bytes().remaining()).isEqualTo(LARGE_BYTES);
  }

  @Test
  void largeSegmentsTakeAnEighthOfTheDirectMemoryAnd64MibAtTheMost() {
    assertThat(SegmentPool.mostLargeBytes(64 << 20)).isEqualTo(8 << 20);
    assertThat(SegmentPool.mostLargeBytes(512 << 20)).isEqualTo(64 << 20);
    assertThat(SegmentPool.mostLargeBytes(8L << 30)).isEqualTo(64 << 20);

    SegmentPool ofThisJvm = new SegmentPool(SegmentPool.SMALL_BYTES);
    List<Segment> large = new ArrayList<>();
    Segment next = ofThisJvm.take(LARGE_BYTES);
    while (next.bytes().capacity() == LARGE_BYTES) {
      large.add(next);
      next = ofThisJvm.take(LARGE_BYTES);
    }
    assertThat(large)
        .hasSize(
            (int) SegmentPool.mostLargeBytes(PlatformDependent.maxDirectMemory()) / LARGE_BYTES);
    large.add(next);
    large.forEach(ofThisJvm::giveBack);
    ofThisJvm.close();
    assertThat(ofThisJvm.bytes()).isZero();
  }

  @Test
  void givesTheSameMemoryAgain() {
    for (long bytes : new long[] {1, 1 << 20}) {
      Segment first = pool.take(bytes);
      pool.giveBack(first);
      assertThat(take(bytes)).isSameAs(first);
    }
  }

  @Test
  void keepsFewSegmentsThatNobodyUses() {
    SegmentPool ample = new SegmentPool(SegmentPool.SMALL_BYTES, 64L * LARGE_BYTES);
    List<Segment> all = new ArrayList<>();
    for (int i = 0; i < 50; i++) {
      all.add(ample.take(1));
      all.add(ample.take(LARGE_BYTES));
    }
    all.forEach(ample::giveBack);
    assertThat(ample.bytes()).isEqualTo(16L * (LARGE_BYTES + SegmentPool.SMALL_BYTES));
    ample.close();
    assertThat(ample.bytes()).isZero();
  }

  @Test
  void keepsNothingThatIsGivenBackAfterItsEnd() {
    Segment late = pool.take(1 << 20);
    pool.close();
    assertThat(pool.bytes()).isEqualTo(LARGE_BYTES);
    pool.giveBack(late);
    assertThat(pool.bytes()).isZero();
  }

  @Test
  void threadsNeverShareASegmentNorExceedTheLimit() {
    Set<Segment> inUse =
        Collections.synchronizedSet(Collections.newSetFromMap(new IdentityHashMap<>()));
    RankThreads.run(
        8,
        rank -> {
          Random random = new Random(rank);
          for (int i = 0; i < 20_000; i++) {
            Segment segment = pool.take(random.nextBoolean() ? 1 : LARGE_BYTES);
            assertThat(inUse.add(segment)).isTrue();
            inUse.remove(segment);
            pool.giveBack(segment);
          }
          return null;
        });
    assertThat(pool.bytes()).isLessThanOrEqualTo(3L * LARGE_BYTES + 16L * SegmentPool.SMALL_BYTES);
  }
}
