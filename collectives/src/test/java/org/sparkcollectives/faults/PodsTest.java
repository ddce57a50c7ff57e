package org.sparkcollectives.faults;

import static org.assertj.core.api.Assertions.as;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.InstanceOfAssertFactories.STRING;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.UUID;
import java.util.stream.Collectors;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;
import org.sparkcollectives.testing.RankProcesses;

/**
 * Tests which memory the ranks of containers share, in containers made of Linux namespaces. Needs
 * the right to make them.
 */
@EnabledOnOs(OS.LINUX)
class PodsTest {

  /** Matches each log line that says that memory could not be shared. */
  private static final String NO_MEMORY = "(?s).*(No shared memory|is not here|cannot see).*";

  @BeforeAll
  static void namespacesArePermitted() throws InterruptedException {
    Containers.require();
  }

  /** A process to start, with some ranks. */
  private record Place(List<String> command, int ranks) {}

  /**
   * What the processes have said and logged.
   *
   * @param ranks by rank
   * @param memory by process
   * @param logs by process
   */
  private record Said(
      List<String> processes, Map<Integer, String> ranks, List<Integer> memory, List<String> logs) {

    /** Returns the lines that all logs have about the paths of the group. */
    List<String> paths() {
      return logs.stream()
          .flatMap(String::lines)
          .filter(line -> line.contains("pairs of ranks"))
          .map(line -> line.replaceFirst(".*\": ", ""))
          .toList();
    }
  }

  /** Pods of one node have the same boot id, and each is process 1 of its own. */
  @Test
  void podsOfOneNodeTakeTcpAtOnceAndCountAsHosts(@TempDir Path folder) throws Exception {
    Path bootId = Files.writeString(folder.resolve("boot_id"), UUID.randomUUID() + "\n");
    Said said =
        run(
            new Place(Containers.pod(Containers.SHM), 1),
            new Place(Containers.pod(Containers.SHM), 1),
            new Place(Containers.machine(bootId), 1));
    assertThat(said.processes()).containsOnly("1");
    assertThat(said.ranks().values()).containsOnly("1 here, heap 0, shm 0, tcp 2, one level");
    assertThat(said.memory()).containsOnly(0);
    assertThat(said.logs()).noneMatch(log -> log.matches(NO_MEMORY));
    assertThat(said.paths())
        .containsExactly("3 ranks, 3 JVMs, 3 hosts; pairs of ranks: heap 0, shm 0, tcp 3");
  }

  @Test
  void containersOfAPodThatSharesItsPidNamespaceShareMemory() throws Exception {
    try (Containers.Pod pod = new Containers.Pod()) {
      Said said =
          run(
              new Place(pod.container(Containers.SHM), 1),
              new Place(pod.container(Containers.SHM), 1),
              new Place(Containers.pod(Containers.SHM), 2));
      assertThat(said.processes()).doesNotHaveDuplicates().last().isEqualTo("1");
      assertThat(said.ranks())
          .containsEntry(0, "2 here, heap 0, shm 1, tcp 2, two levels")
          .containsEntry(1, "2 here, heap 0, shm 1, tcp 2, two levels")
          .containsEntry(2, "2 here, heap 1, shm 0, tcp 2, two levels")
          .containsEntry(3, "2 here, heap 1, shm 0, tcp 2, two levels");
      assertThat(said.memory().subList(0, 2)).allMatch(count -> count > 0);
      assertThat(said.memory().get(2)).isZero();
      assertThat(said.logs()).noneMatch(log -> log.matches(NO_MEMORY));
      assertThat(said.paths())
          .containsExactly("4 ranks, 3 JVMs, 2 hosts; pairs of ranks: heap 1, shm 1, tcp 4");
    }
  }

  /** Processes of one PID namespace, so that memory is offered. */
  @Test
  void whereDevShmHasNoRoomALogLineSaysSoAndTcpIsUsed() throws Exception {
    Said said =
        run(
            new Place(Containers.container(Containers.FULL), 1),
            new Place(Containers.container(Containers.TOO_SMALL), 1),
            new Place(Containers.container(Containers.READ_ONLY), 1));
    assertThat(said.ranks().values()).containsOnly("3 here, heap 0, shm 0, tcp 2, one level");
    assertThat(said.paths())
        .containsExactly("3 ranks, 3 JVMs, 1 hosts; pairs of ranks: heap 0, shm 0, tcp 3");
    List<String> causes = List.of("No space left", "No space left", "Read-only file system");
    for (int rank = 0; rank < causes.size(); rank++) {
      String cause = causes.get(rank);
      assertThat(said.logs().get(rank).lines().filter(line -> line.contains("go over TCP")))
          .singleElement(as(STRING))
          .contains("No shared memory in /dev/shm", cause);
    }
    assertThat(said.logs()).noneMatch(log -> log.contains("\tat "));
    assertThat(said.logs()).noneMatch(log -> log.contains("is not here"));
  }

  @Test
  void onceDevShmIsFullALogLineSaysSoAndTheGroupGoesOn() throws Exception {
    String url = "tcp://127.0.0.1:" + RankProcesses.freePort() + "?world_size=2&rank=";
    List<String> place = Containers.container(Containers.SHM);
    try (RankProcess first = new RankProcess(place, FullMemoryRank.class, url + 0);
        RankProcess second = new RankProcess(place, FullMemoryRank.class, url + 1)) {
      for (RankProcess each : List.of(first, second)) {
        each.await("full");
        each.await("went on");
        assertThat(each.exitStatus()).as(each::log).isZero();
        assertThat(each.log()).contains("allocates on the heap", "No space left");
        assertThat(each.log()).doesNotContain("\tat ");
      }
    }
  }

  /** Runs a group over places; it ends well. */
  private static Said run(Place... places) throws Exception {
    int size = 0;
    for (Place place : places) {
      size += place.ranks();
    }
    int port = RankProcesses.freePort();
    String url = "tcp://127.0.0.1:" + port + "?world_size=" + size + "&rank=";
    List<RankProcess> processes = new ArrayList<>();
    Said said = new Said(new ArrayList<>(), new TreeMap<>(), new ArrayList<>(), new ArrayList<>());
    try {
      int first = 0;
      for (Place place : places) {
        processes.add(start(place, url, first));
        first += place.ranks();
      }
      int rank = 0;
      for (int i = 0; i < places.length; i++) {
        RankProcess process = processes.get(i);
        said.processes().add(process.await("process"));
        said.memory().add(Integer.valueOf(process.await("memory")));
        for (int each = 0; each < places[i].ranks(); each++) {
          said.ranks().put(rank, process.said("rank-" + rank));
          rank++;
        }
      }
      for (RankProcess each : processes) {
        assertThat(each.exitStatus()).as(each::log).isZero();
        said.logs().add(each.log());
      }
    } finally {
      for (RankProcess each : processes) {
        each.close();
      }
    }
    System.out.println(
        said.ranks() + said.logs().stream().collect(Collectors.joining("\n", "\n", "")));
    return said;
  }

  private static RankProcess start(Place place, String url, int first) throws IOException {
    return new RankProcess(
        place.command(), PodRank.class, url, String.valueOf(first), String.valueOf(place.ranks()));
  }
}
