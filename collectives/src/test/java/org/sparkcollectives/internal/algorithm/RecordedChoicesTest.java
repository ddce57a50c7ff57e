package org.sparkcollectives.internal.algorithm;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.Supplier;
import org.junit.jupiter.api.Test;
import org.sparkcollectives.DType;
import org.sparkcollectives.ReduceOp;
import org.sparkcollectives.internal.transport.Peers;
import org.sparkcollectives.spi.tensor.HostTensor;

/**
 * The same call is carried out by the same algorithm as when the choices were recorded. With {@code
 * -Dcollectives.choices.record=true} it records them anew.
 */
class RecordedChoicesTest {

  private static final Path RECORDED =
      Path.of("src/test/resources/org/sparkcollectives/internal/algorithm/choices.txt");

  private static final List<Integer> SIZES =
      List.of(8, 1 << 10, 8 << 10, 12 << 10, 16 << 10, 64 << 10, 256 << 10, 1 << 20, 8 << 20);

  private static final Map<DType, HostTensor> LARGEST =
      Map.of(
          DType.FLOAT32, HostTensor.allocate(DType.FLOAT32, (8 << 20) / 4),
          DType.BFLOAT16, HostTensor.allocate(DType.BFLOAT16, (8 << 20) / 2));

  /** An operation on so many bytes. */
  private interface Operation {
    void begin(AlgorithmSelector selector, Peers peers, HostTensor tensor);
  }

  private static CostModel model(Duration latency, Duration overhead, long bandwidth) {
    return CostModel.of(latency, overhead, bandwidth, CostProfile.MESH.defaultValue());
  }

  private static AlgorithmSelector selector() {
    return new AlgorithmSelector(
        new PathCosts(
            model(
                CostProfile.HEAP_LATENCY.defaultValue(),
                Duration.ZERO,
                CostProfile.HEAP_BANDWIDTH.defaultValue()),
            model(
                CostProfile.SHM_LATENCY.defaultValue(),
                CostProfile.SHM_OVERHEAD.defaultValue(),
                CostProfile.SHM_BANDWIDTH.defaultValue()),
            model(
                CostProfile.LATENCY.defaultValue(),
                CostProfile.OVERHEAD.defaultValue(),
                CostProfile.BANDWIDTH.defaultValue())));
  }

  private static Map<String, Supplier<AskedPeers>> worlds() {
    Map<String, Supplier<AskedPeers>> worlds = new LinkedHashMap<>();
    worlds.put("1 rank", () -> AskedPeers.overNetwork(1));
    for (int n : new int[] {2, 4, 8}) {
      worlds.put(n + " in one JVM", () -> AskedPeers.inHeap(n));
      for (AskedPeers.Tensors each : AskedPeers.Tensors.values()) {
        String tensors = ", " + each.name().toLowerCase(Locale.ROOT) + " tensors";
        worlds.put(n + " JVMs of a host" + tensors, () -> AskedPeers.inSharedMemory(n, each));
        worlds.put(
            n + " in 2 JVMs of a host" + tensors,
            () -> AskedPeers.inJvmsOfAHost(AskedPeers.nodes(2, n), each));
      }
      worlds.put(n + " over rings", () -> AskedPeers.overRings(n));
      worlds.put(n + " over TCP", () -> AskedPeers.overNetwork(n));
      worlds.put(n + " in 2 JVMs over TCP", () -> AskedPeers.inJvms(AskedPeers.nodes(2, n)));
      worlds.put(n + " JVMs on 2 hosts", () -> AskedPeers.onHosts(AskedPeers.nodes(2, n)));
    }
    for (int n : new int[] {3, 7, 9, 24, 100}) {
      worlds.put(n + " over TCP", () -> AskedPeers.overNetwork(n));
      worlds.put(n + " in 3 JVMs over TCP", () -> AskedPeers.inJvms(AskedPeers.nodes(3, n)));
      worlds.put(n + " JVMs on 3 hosts", () -> AskedPeers.onHosts(AskedPeers.nodes(3, n)));
    }
    // Of one rank each is what is not divided.
    worlds.keySet().removeIf(name -> name.matches("2 (in 2|JVMs on 2|).*") && name.contains(" 2 "));
    worlds.keySet().removeIf(name -> name.startsWith("3 ") && name.contains(" 3 "));
    return worlds;
  }

  private static Map<String, Operation> reductions(ReduceOp op, String suffix) {
    Map<String, Operation> operations = new LinkedHashMap<>();
    operations.put(
        "all-reduce" + suffix, (s, peers, t) -> s.run(agreed(peers, t, op), Call.allReduce(t, op)));
    operations.put(
        "reduce" + suffix, (s, peers, t) -> s.run(agreed(peers, t, op), Call.reduce(t, op, 0)));
    operations.put(
        "reduce-scatter" + suffix,
        (s, peers, t) ->
            s.run(
                agreed(peers, t, op),
                Call.reduceScatter(part(peers, t), whole(peers, t), op, peers.size())));
    return operations;
  }

  private static Map<String, Operation> others() {
    Map<String, Operation> operations = new LinkedHashMap<>();
    operations.put(
        "broadcast", (s, peers, t) -> s.run(agreed(peers, t.byteSize()), new Call.Broadcast(t, 0)));
    operations.put(
        "all-gather",
        (s, peers, t) ->
            s.run(
                agreed(peers, t.byteSize()),
                Call.allGather(whole(peers, t), part(peers, t), peers.size())));
    operations.put(
        "uneven all-gather",
        (s, peers, t) ->
            s.run(
                agreed(peers, t.byteSize()),
                Call.allGather(uneven(peers, t), uneven(peers, t).get(0))));
    operations.put(
        "all-to-all",
        (s, peers, t) ->
            s.run(
                agreed(peers, t.byteSize()),
                Call.allToAll(whole(peers, t), whole(peers, t), peers.size())));
    operations.put(
        "uneven all-to-all",
        (s, peers, t) ->
            s.run(agreed(peers, -1), Call.allToAll(uneven(peers, t), uneven(peers, t))));
    operations.put(
        "gather",
        (s, peers, t) ->
            s.run(
                agreed(peers, -1), new Call.Gather(uneven(peers, t), uneven(peers, t).get(0), 0)));
    operations.put(
        "scatter",
        (s, peers, t) ->
            s.run(
                agreed(peers, -1), new Call.Scatter(uneven(peers, t).get(0), uneven(peers, t), 0)));
    operations.put("barrier", (s, peers, t) -> s.run(agreed(peers, 0), new Call.Barrier()));
    return operations;
  }

  /** Begins a reduction; what is multiplied first is nothing to agree on. */
  private static Peers agreed(Peers peers, HostTensor tensor, ReduceOp op) {
    return agreed(peers, op.kind() == ReduceOp.Kind.PREMUL_SUM ? -1 : tensor.byteSize());
  }

  private static Peers agreed(Peers peers, long bytes) {
    return ((AskedPeers) peers).agreeingOn(bytes);
  }

  private static HostTensor whole(Peers peers, HostTensor tensor) {
    return tensor.slice(0, tensor.count() / peers.size() * peers.size());
  }

  private static HostTensor part(Peers peers, HostTensor tensor) {
    return HostTensor.allocate(tensor.dtype(), tensor.count() / peers.size());
  }

  /** Parts of which the first has one element less than the others, and the last one more. */
  private static List<HostTensor> uneven(Peers peers, HostTensor tensor) {
    int n = peers.size();
    long each = tensor.count() / n;
    List<HostTensor> parts = new ArrayList<>();
    long from = 0;
    for (int rank = 0; rank < n; rank++) {
      boolean shorter = rank == 0 && n > 1 && each > 0;
      long count = rank == n - 1 ? tensor.count() - from : shorter ? each - 1 : each;
      parts.add(tensor.slice(from, count));
      from += count;
    }
    return parts;
  }

  private static void record(List<String> lines, DType dtype, Map<String, Operation> operations) {
    AlgorithmSelector selector = selector();
    worlds()
        .forEach(
            (world, peers) ->
                operations.forEach(
                    (name, operation) -> {
                      StringBuilder line = new StringBuilder(world + " | " + name + " |");
                      String before = "";
                      for (int bytes : SIZES) {
                        HostTensor tensor = LARGEST.get(dtype).slice(0, bytes / dtype.bytes());
                        String chosen = chosen(peers.get(), selector, operation, tensor);
                        if (!chosen.equals(before)) {
                          line.append(' ').append(bytes).append(' ').append(chosen);
                        }
                        before = chosen;
                      }
                      lines.add(line.toString());
                    }));
  }

  private static String chosen(
      AskedPeers peers, AlgorithmSelector selector, Operation operation, HostTensor tensor) {
    try {
      return ChosenAlgorithm.of(peers, asked -> operation.begin(selector, asked, tensor));
    } catch (AssertionError nothingSent) {
      return "nothing";
    }
  }

  @Test
  void theSameCallIsCarriedOutByTheSameAlgorithmAsBefore() throws IOException {
    List<String> lines = new ArrayList<>();
    record(lines, DType.FLOAT32, reductions(ReduceOp.SUM, ""));
    record(lines, DType.BFLOAT16, reductions(ReduceOp.SUM, " of bfloat16"));
    record(lines, DType.FLOAT32, reductions(ReduceOp.premulSum(2), " with a factor"));
    record(lines, DType.FLOAT32, others());
    if (Boolean.getBoolean("collectives.choices.record")) {
      Files.createDirectories(RECORDED.getParent());
      Files.write(RECORDED, lines);
    }
    List<String> recorded = Files.readAllLines(RECORDED);
    List<String> changed = new ArrayList<>();
    for (String line : recorded) {
      if (!lines.contains(line)) {
        changed.add("- " + line);
      }
    }
    for (String line : lines) {
      if (!recorded.contains(line)) {
        changed.add("+ " + line);
      }
    }
    assertThat(String.join("\n", changed)).as("what changed in %s", RECORDED).isEmpty();
    assertThat(lines.equals(recorded)).as("the order of %s", RECORDED).isTrue();
  }
}
