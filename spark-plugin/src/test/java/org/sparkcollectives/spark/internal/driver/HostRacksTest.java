package org.sparkcollectives.spark.internal.driver;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.sparkcollectives.spark.internal.driver.HostRacks.TopologyException;

/** Tests when the topology is asked, and what becomes of hosts that it does not know. */
class HostRacksTest {

  private final List<List<String>> asked = new ArrayList<>();
  private final Queue<Runnable> tasks = new ArrayDeque<>();

  private final HostRacks racks =
      new HostRacks(
          hosts -> {
            asked.add(hosts);
            if (hosts.contains("broken")) {
              throw new TopologyException("it is broken");
            }
            return hosts.stream().map(host -> "/rack-of-" + host).toList();
          },
          tasks::add);

  private void runTasks() {
    while (!tasks.isEmpty()) {
      tasks.remove().run();
    }
  }

  @Test
  void hostsThatWaitAreAskedForTogetherAndEachOnlyOnce() {
    List<CompletableFuture<String>> all =
        List.of(racks.of("a"), racks.of("b"), racks.of("a"), racks.of("c"));
    runTasks();
    assertThat(asked).containsExactly(List.of("a", "b", "c"));
    assertThat(all)
        .extracting(CompletableFuture::join)
        .containsExactly("/rack-of-a", "/rack-of-b", "/rack-of-a", "/rack-of-c");
    assertThat(racks.of("b").join()).isEqualTo("/rack-of-b");
    CompletableFuture<String> later = racks.of("d");
    runTasks();
    assertThat(later.join()).isEqualTo("/rack-of-d");
    assertThat(asked).hasSize(2);
  }

  @Test
  void atMostAHundredAreAskedForAtOnce() {
    IntStream.range(0, 250).forEach(host -> racks.of("host-" + host));
    runTasks();
    assertThat(asked).extracting(List::size).containsExactly(100, 100, 50);
  }

  @Test
  void allRacksAreUnknownAfterAFailure() {
    CompletableFuture<String> broken = racks.of("broken");
    runTasks();
    assertThat(broken.join()).isEmpty();
    assertThat(racks.of("a").join()).isEmpty();
    assertThat(asked).hasSize(1);
  }

  @Test
  void aTopologyThatThrowsAnythingElseOrTellsTooLittleIsAskedNoMore() {
    List<HostRacks.Topology> wrong =
        List.of(
            hosts -> {
              throw new NoSuchMethodError("of another version of Spark");
            },
            hosts -> {
              throw new IllegalStateException("no table");
            },
            hosts -> List.of());
    for (HostRacks.Topology topology : wrong) {
      HostRacks known = new HostRacks(topology, tasks::add);
      CompletableFuture<String> first = known.of("a");
      runTasks();
      assertThat(first.join()).isEmpty();
      assertThat(known.of("b").join()).isEmpty();
    }
  }

  @Test
  void aTopologyThatDoesNotAnswerIsAskedNoMore() {
    Queue<Runnable> later = new ArrayDeque<>();
    HostRacks known = new HostRacks(hosts -> List.of("/a"), tasks::add, later::add);
    CompletableFuture<String> told = known.of("a");
    runTasks();
    later.remove().run();
    assertThat(told.join()).isEqualTo("/a");
    CompletableFuture<String> late = known.of("b");
    later.remove().run();
    assertThat(late.join()).isEmpty();
    assertThat(known.of("c").join()).isEmpty();
  }
}
