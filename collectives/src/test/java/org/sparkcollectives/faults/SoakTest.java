package org.sparkcollectives.faults;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.sparkcollectives.store.TcpStore;
import org.sparkcollectives.store.TcpStoreServer;
import org.sparkcollectives.testing.ForkedJvm;

/**
 * Tests that many collectives in groups that come and go, or fail, leave a process as large as it
 * was: heap, direct memory, mapped files, descriptors, threads, and keys in the store. Prints what
 * it measures; {@code -Dsoak.seed} draws the same again.
 */
@EnabledOnOs(OS.LINUX)
class SoakTest {

  private static final int SHARE = 4_000;
  private static final int ALL = 1_000_000;
  private static final int FAILING = 100;
  private static final int MEASURES = 10;

  /**
   * The footprints that are skipped: what is loaded, compiled or pooled late is no leak; what grows
   * with the operations is.
   */
  private static final int WARM = 3;

  private static final long HEAP_TOLERANCE = 4L << 20;
  private static final long DIRECT_TOLERANCE = 1L << 20;

  /**
   * The tolerance for Netty's pool: it grows by chunks of 4 MiB, of which a thread may need one.
   */
  private static final long POOL_TOLERANCE = 8L << 20;

  /**
   * The tolerance for mapped memory. A rank makes its ring to another, of 256 KiB, when it first
   * sends to it, which may be late. A ring that leaked with each group would be some 10 MiB.
   */
  private static final long MAPPED_TOLERANCE = 1L << 20;

  /**
   * The tolerance for threads: those that run unawaited operations end when they have been idle for
   * a while.
   */
  private static final int THREAD_TOLERANCE = 10;

  /** The tolerance for descriptors that are just being closed. */
  private static final int DESCRIPTOR_TOLERANCE = 4;

  private static final Duration LIMIT = Duration.ofHours(2);

  @Test
  void aProcessStaysAsLargeAsItWasInAShareOfTheCollectives() throws Exception {
    assertFlat(SoakRank.class, SHARE);
  }

  @Test
  void aProcessStaysAsLargeAsItWasInAHundredGroupsThatFail() throws Exception {
    assertFlat(FailingRank.class, FAILING);
  }

  @Tag("soak")
  @Test
  void aProcessStaysAsLargeAsItWasInAMillionCollectives() throws Exception {
    assertFlat(SoakRank.class, ALL);
  }

  private static void assertFlat(Class<?> main, int count) throws Exception {
    long seed = Long.getLong("soak.seed", System.nanoTime());
    long start = System.nanoTime();
    List<ForkedJvm> ranks = new ArrayList<>();
    try (TcpStoreServer store = TcpStore.server("127.0.0.1", 0)) {
      for (int rank = 0; rank < SoakRank.SIZE; rank++) {
        ranks.add(
            ForkedJvm.start(
                List.of("-Xmx256m", "-XX:+UseSerialGC"),
                main,
                String.valueOf(rank),
                String.valueOf(store.port()),
                String.valueOf(count),
                String.valueOf(seed),
                String.valueOf(MEASURES)));
      }
      ranks.get(0).awaitOutput("done", LIMIT);
      for (int rank = 0; rank < SoakRank.SIZE; rank++) {
        ForkedJvm process = ranks.get(rank);
        assertThat(process.exitStatus()).as(process.output()).isZero();
        assertFlat(rank, footprints(process), "of rank " + rank + " with seed " + seed);
      }
      assertThat(store.listKeys()).as("keys left in the store").isEmpty();
    } finally {
      ranks.forEach(ForkedJvm::close);
    }
    System.out.printf(
        Locale.ROOT,
        "%s with %,d among %d processes with seed %d took %d s%n",
        main.getSimpleName(),
        count,
        SoakRank.SIZE,
        seed,
        Duration.ofNanos(System.nanoTime() - start).toSeconds());
  }

  private static List<Footprint> footprints(ForkedJvm process) {
    String word = "footprint ";
    return process
        .output()
        .lines()
        .filter(line -> line.startsWith(word))
        .map(line -> Footprint.decode(line.substring(word.length())))
        .toList();
  }

  private static void assertFlat(int rank, List<Footprint> all, String whose) {
    all.forEach(each -> System.out.println("rank " + rank + ": " + each));
    assertThat(all).hasSize(MEASURES);
    Footprint first = all.get(WARM - 1);
    for (Footprint each : all.subList(WARM, all.size())) {
      assertThat(each.heap()).as("heap " + whose).isLessThan(first.heap() + HEAP_TOLERANCE);
      assertThat(each.netty())
          .as("Netty's direct memory " + whose)
          .isLessThanOrEqualTo(first.netty() + POOL_TOLERANCE);
      assertThat(each.direct() - each.netty())
          .as("direct memory beside Netty's " + whose)
          .isLessThanOrEqualTo(first.direct() - first.netty() + DIRECT_TOLERANCE);
      assertThat(each.mapped())
          .as("mapped memory " + whose)
          .isLessThanOrEqualTo(first.mapped() + MAPPED_TOLERANCE);
      assertThat(each.descriptors())
          .as("descriptors " + whose)
          .isLessThanOrEqualTo(first.descriptors() + DESCRIPTOR_TOLERANCE);
      assertThat(each.threads())
          .as("threads " + whose)
          .isLessThanOrEqualTo(first.threads() + THREAD_TOLERANCE);
    }
  }
}
