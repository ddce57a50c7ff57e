package org.sparkcollectives.internal.checkpoint;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.RepeatedTest;
import org.junit.jupiter.api.Test;
import org.sparkcollectives.CollectiveException;
import org.sparkcollectives.Tensor;
import org.sparkcollectives.spi.tensor.HostTensor;
import org.sparkcollectives.store.HashStore;
import org.sparkcollectives.testing.RankThreads;

/** Tests which versions count, and what happens to the others. */
class CheckpointVersionsTest {

  private final HashStore store = new HashStore();
  private final CheckpointVersions versions = new CheckpointVersions(store);

  @AfterEach
  void close() {
    store.close();
  }

  private void write(int rank, long version) {
    versions.part(rank, version).write(List.of(HostTensor.of(Tensor.of(version))));
  }

  private List<String> parts() {
    return store.listKeys().stream()
        .filter(key -> key.startsWith("part/") && key.endsWith("/layout"))
        .map(key -> key.substring("part/".length(), key.length() - "/layout".length()))
        .sorted()
        .toList();
  }

  @Test
  void aVersionCountsOnlyOnceItIsCommitted() {
    assertThat(versions.latest()).isNull();
    long first = versions.draw();
    write(0, first);
    assertThat(versions.latest()).isNull();
    versions.commit(first, 1, true);
    long second = versions.draw();
    assertThat(second).isGreaterThan(first);
    write(0, second);
    assertThat(versions.latest()).isEqualTo(new CheckpointVersions.Commit(first, 0, 1, true));
    versions.commit(second, 1, false);
    assertThat(versions.latest()).isEqualTo(new CheckpointVersions.Commit(second, first, 1, false));
  }

  @Test
  void aGroupThatIsLateCannotTakeTheLatestBack() {
    long late = versions.draw();
    long latest = versions.draw();
    versions.commit(latest, 2, false);
    assertThatThrownBy(() -> versions.commit(late, 2, false))
        .isInstanceOf(CollectiveException.class)
        .hasMessageContaining("version 2 was committed before version 1");
    assertThat(versions.latest().version()).isEqualTo(latest);
  }

  @RepeatedTest(10)
  void ofGroupsThatCommitAtTheSameTimeTheLatestDrawnCounts() {
    List<Long> drawn =
        RankThreads.run(
            4,
            rank -> {
              long version = versions.draw();
              try {
                versions.commit(version, 1, false);
              } catch (CollectiveException e) {
                assertThat(versions.latest().version()).isGreaterThan(version);
              }
              return version;
            });
    assertThat(drawn).doesNotHaveDuplicates();
    assertThat(versions.latest().version())
        .isEqualTo(drawn.stream().mapToLong(Long::longValue).max().orElseThrow());
  }

  @Test
  void theLastTwoCompleteVersionsStayAndThoseThatAreStillWritten() {
    // Version 3 is incomplete, because rank 1 did not write. Version 6 is in progress.
    IntStream.rangeClosed(1, 6).forEach(i -> versions.draw());
    for (int version : new int[] {1, 2, 4, 5, 6}) {
      write(0, version);
      write(1, version);
    }
    write(0, 3);
    write(2, 2); // Written when there were more ranks.
    versions.commit(2, 3, false);
    versions.commit(4, 2, false);
    CheckpointVersions.Commit kept = versions.commit(5, 2, false);
    versions.removeStale(kept, 1, 2);
    assertThat(parts()).contains("0/1", "0/2", "2/2").doesNotContain("1/1", "1/2");
    versions.removeStale(kept, 0, 2);
    assertThat(parts()).containsExactly("0/4", "0/5", "0/6", "1/4", "1/5", "1/6");
  }
}
