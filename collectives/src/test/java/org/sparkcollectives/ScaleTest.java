package org.sparkcollectives;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.sparkcollectives.store.HashStore;
import org.sparkcollectives.store.Store;
import org.sparkcollectives.testing.LeakCheck;
import org.sparkcollectives.testing.RankProcesses;
import org.sparkcollectives.testing.RankThreads;
import org.sparkcollectives.testing.StoreTraffic;

/**
 * Tests that the resources which a rank needs to meet the others and to work with them hardly grow
 * with the world.
 */
@ExtendWith(LeakCheck.class)
class ScaleTest {

  private static final GroupOptions OPTIONS =
      GroupOptions.defaults().withName("many").withTransports("heap", "tcp");

  /**
   * Returns the requests that each rank of a world sends to the store, from the first to the last.
   */
  private static List<StoreTraffic> meetAndPart(int size) {
    List<StoreTraffic> traffic =
        IntStream.range(0, size).mapToObj(rank -> new StoreTraffic()).toList();
    try (HashStore store = new HashStore()) {
      RankThreads.run(
          size,
          rank -> {
            Store counted = traffic.get(rank).count(store);
            try (ProcessGroup world = ProcessGroups.create(counted, rank, size, OPTIONS)) {
              world.barrier().await();
            }
            return null;
          });
      assertThat(store.listKeys()).isEmpty();
    }
    return traffic;
  }

  @Test
  void aRankAsksTheStoreAsOftenInALargeWorldAsInASmallOne() {
    for (int size : new int[] {10, 100, 400}) {
      long start = System.nanoTime();
      List<StoreTraffic> traffic = meetAndPart(size);
      long millis = TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - start);
      long[] requests = traffic.stream().mapToLong(StoreTraffic::requests).sorted().toArray();
      // The last rank to leave removes the keys, one for each rank and some more. Two ranks may
      // send more than the others, because another rank wrote the endpoint table.
      assertThat(requests[size - 3]).as("%s ranks", size).isLessThanOrEqualTo(16);
      assertThat(requests[size - 1]).as("%s ranks", size).isLessThanOrEqualTo(size + 30L);
      // A rank sends two requests at most every 50 ms.
      long checks = traffic.stream().mapToLong(StoreTraffic::leaveChecks).max().orElseThrow();
      assertThat(checks).as("%s ranks", size).isLessThanOrEqualTo(2 * (1 + millis / 50));
    }
  }

  @Test
  void aRankReceivesAFewBytesForEachOther() {
    int size = 300;
    long start = System.nanoTime();
    long[] bytes =
        meetAndPart(size).stream().mapToLong(StoreTraffic::bytesReceived).sorted().toArray();
    // A rank reads 16 bytes in the endpoint table, and 12 for each rank that has left, again for as
    // long as others leave.
    long looks = 1 + TimeUnit.NANOSECONDS.toMillis(System.nanoTime() - start) / 50;
    assertThat(bytes[size - 2]).isLessThanOrEqualTo((28L + 12L * looks) * size + 1_000);
  }

  @Test
  void aRendezvousThatFailsNamesTheMissingAmongManyInOneRequest() {
    int size = 1_000;
    StoreTraffic traffic = new StoreTraffic();
    try (HashStore store = new HashStore()) {
      Store hasty = traffic.count(store).withTimeout(Duration.ofMillis(300));
      assertThatThrownBy(() -> ProcessGroups.create(hasty, 7, size, OPTIONS))
          .isInstanceOfSatisfying(
              CollectiveTimeoutException.class,
              e -> assertThat(e.missingRanks()).hasSize(size - 1).doesNotContain(7))
          .hasMessageContaining("999 of 1000 ranks have not arrived: [0, 1, 2, 3, 4, 5, 6, 8, 9,")
          .hasMessageContaining("and 979 more");
    }
    assertThat(traffic.requests()).isLessThanOrEqualTo(8);
  }

  @Test
  void ranksOfTwoProcessesMeetReduceAndPart() throws Exception {
    assertThatRanksMeetReduceAndPart(2, 50);
  }

  @Tag("full")
  @Test
  void aThousandRanksOfFourProcessesMeetReduceAndPart() throws Exception {
    assertThatRanksMeetReduceAndPart(4, 250);
  }

  private static void assertThatRanksMeetReduceAndPart(int processes, int ranksOfEach)
      throws Exception {
    int size = processes * ranksOfEach;
    List<String> options = List.of("-Xmx400m", "-Xss512k", "-XX:TieredStopAtLevel=1");
    try (RankProcesses running =
        RankProcesses.startWithRanks(options, ManyRanks.class, processes, ranksOfEach)) {
      for (int i = 0; i < processes; i++) {
        int exitStatus = running.exitStatus(i);
        String output = running.output(i);
        assertThat(exitStatus).as(output).isZero();
        assertThat(output).contains("parted");
        assertThat(openedFiles(output))
            .as(output)
            .isLessThanOrEqualTo(ranksOfEach * filesOfOneRank(size));
      }
    }
  }

  private static long openedFiles(String output) {
    String line =
        output.lines().filter(each -> each.startsWith("files ")).findFirst().orElseThrow();
    return Long.parseLong(line.substring("files ".length()));
  }

  /**
   * Returns how many files a rank has open at the most. Each path to a peer is a connection out and
   * one in. A barrier has a peer to send to for each doubling and another to receive from,
   * recursive doubling has one for both, and the ranks beyond a power of two have one more; a
   * selector takes three files.
   */
  private static long filesOfOneRank(int size) {
    int doublings = Integer.SIZE - Integer.numberOfLeadingZeros(size - 1);
    return 2L * doublings + 2L * (doublings + 1) + 3;
  }
}
