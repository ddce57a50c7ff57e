package org.sparkcollectives.internal.algorithm;

import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Collectors;
import org.sparkcollectives.DType;
import org.sparkcollectives.ReduceOp;
import org.sparkcollectives.config.ConfigEntry;
import org.sparkcollectives.internal.transport.Locality;
import org.sparkcollectives.internal.transport.Peers;
import org.sparkcollectives.spi.tensor.HostTensor;

/** The parts of docs/internals/algorithms.md that follow from the code. */
final class AlgorithmsPage {

  private static final List<Integer> WORLDS = List.of(2, 3, 4, 8, 9, 16, 64, 100, 1_000, 10_000);
  private static final List<Long> SIZES =
      List.of(4L, 1L << 10, 16L << 10, 64L << 10, 256L << 10, 1L << 20, 8L << 20, 64L << 20);

  /** How many ranks each JVM has. */
  private static final List<List<Integer>> JVMS =
      List.of(
          List.of(2, 2),
          List.of(4, 4),
          List.of(1, 3),
          List.of(4, 2, 1),
          Collections.nCopies(4, 4),
          Collections.nCopies(16, 4));

  private static final HostTensor LARGEST =
      HostTensor.allocate(DType.FLOAT32, SIZES.get(SIZES.size() - 1) / Float.BYTES);

  private static final Map<String, Operation> OPERATIONS = operations();

  private AlgorithmsPage() {}

  /** Begins an operation on so many bytes. */
  @FunctionalInterface
  private interface Operation {
    void begin(AlgorithmSelector selector, Peers peers, HostTensor tensor);
  }

  /** Operations by the end of the names of their algorithms. */
  private static Map<String, Operation> operations() {
    Map<String, Operation> operations = new LinkedHashMap<>();
    operations.put("AllReduce", (s, peers, t) -> s.run(peers, Call.allReduce(t, ReduceOp.SUM)));
    operations.put("Reduce", (s, peers, t) -> s.run(peers, Call.reduce(t, ReduceOp.SUM, 0)));
    operations.put("Broadcast", (s, peers, t) -> s.run(peers, new Call.Broadcast(t, 0)));
    operations.put(
        "AllGather",
        (s, peers, t) ->
            s.run(peers, Call.allGather(whole(peers, t), part(peers, t), peers.size())));
    operations.put(
        "ReduceScatter",
        (s, peers, t) ->
            s.run(
                peers,
                Call.reduceScatter(part(peers, t), whole(peers, t), ReduceOp.SUM, peers.size())));
    operations.put(
        "AllToAll",
        (s, peers, t) ->
            s.run(peers, Call.allToAll(whole(peers, t), whole(peers, t), peers.size())));
    operations.put("Barrier", (s, peers, t) -> s.run(peers, new Call.Barrier()));
    return operations;
  }

  /** The parts by their names. */
  static Map<String, String> parts() throws IOException {
    AlgorithmSelector tcp =
        new AlgorithmSelector(new PathCosts(inHeap(), inSharedMemory(), overTcp()));
    Map<String, String> parts = new LinkedHashMap<>();
    parts.put("figures", figures());
    parts.put("choices", choices(tcp));
    parts.put("hierarchical", hierarchical(tcp));
    parts.put("algorithms", AlgorithmSources.table());
    return parts;
  }

  /** For which sizes each operation is hierarchical, by how many ranks the JVMs have. */
  private static String hierarchical(AlgorithmSelector selector) {
    StringBuilder text = new StringBuilder("| operation |");
    JVMS.forEach(sizes -> text.append(' ').append(name(sizes)).append(" |"));
    text.append("\n|---|").append("---|".repeat(JVMS.size())).append('\n');
    OPERATIONS.forEach(
        (name, operation) -> {
          text.append("| ").append(label(name)).append(" |");
          for (List<Integer> sizes : JVMS) {
            text.append(' ').append(ranges(selector, operation, locality(sizes))).append(" |");
          }
          text.append('\n');
        });
    return text.toString();
  }

  private static String name(List<Integer> sizes) {
    return sizes.stream().distinct().count() == 1
        ? sizes.size() + " of " + sizes.get(0)
        : sizes.stream().map(String::valueOf).collect(Collectors.joining(" + "));
  }

  private static Locality locality(List<Integer> sizes) {
    List<Integer> nodes = new ArrayList<>();
    for (int node = 0; node < sizes.size(); node++) {
      nodes.addAll(Collections.nCopies(sizes.get(node), node));
    }
    return Locality.of(nodes);
  }

  /** The sizes for which an operation is hierarchical. */
  private static String ranges(AlgorithmSelector selector, Operation operation, Locality jvms) {
    List<Boolean> hierarchical = new ArrayList<>();
    for (long bytes : SIZES) {
      AskedPeers asked = AskedPeers.inJvms(jvms);
      HostTensor tensor = LARGEST.slice(0, Math.max(bytes / Float.BYTES, asked.size()));
      hierarchical.add(
          ChosenAlgorithm.of(asked, peers -> operation.begin(selector, peers, tensor))
              .startsWith("Hierarchical"));
    }
    if (!hierarchical.contains(true)) {
      return "never";
    }
    if (!hierarchical.contains(false)) {
      return "always";
    }
    List<String> ranges = new ArrayList<>();
    for (int from = 0; from < SIZES.size(); from++) {
      if (!hierarchical.get(from)) {
        continue;
      }
      int to = from;
      while (to + 1 < SIZES.size() && hierarchical.get(to + 1)) {
        to++;
      }
      ranges.add(range(from, to));
      from = to;
    }
    return String.join(", ", ranges);
  }

  private static String range(int from, int to) {
    if (from == 0) {
      return "to " + size(SIZES.get(to));
    }
    if (to == SIZES.size() - 1) {
      return "from " + size(SIZES.get(from));
    }
    String first = size(SIZES.get(from));
    return from == to ? first : first + " to " + size(SIZES.get(to));
  }

  private static HostTensor whole(Peers peers, HostTensor tensor) {
    return tensor.slice(0, tensor.count() / peers.size() * peers.size());
  }

  private static HostTensor part(Peers peers, HostTensor tensor) {
    return HostTensor.allocate(tensor.dtype(), tensor.count() / peers.size());
  }

  private static CostModel inHeap() {
    return CostModel.of(
        CostProfile.HEAP_LATENCY.defaultValue(),
        Duration.ZERO,
        CostProfile.HEAP_BANDWIDTH.defaultValue(),
        CostProfile.MESH.defaultValue());
  }

  private static CostModel overTcp() {
    return CostModel.of(
        CostProfile.LATENCY.defaultValue(),
        CostProfile.OVERHEAD.defaultValue(),
        CostProfile.BANDWIDTH.defaultValue(),
        CostProfile.MESH.defaultValue());
  }

  private static CostModel inSharedMemory() {
    return CostModel.of(
        CostProfile.SHM_LATENCY.defaultValue(),
        CostProfile.SHM_OVERHEAD.defaultValue(),
        CostProfile.SHM_BANDWIDTH.defaultValue(),
        CostProfile.MESH.defaultValue());
  }

  private static String figures() {
    StringBuilder text = new StringBuilder("| figure | default | meaning |\n|---|---|---|\n");
    for (ConfigEntry<?> entry : CostProfile.entries()) {
      text.append("| `" + entry.key() + "` | `" + entry.defaultText() + "` | " + entry.doc());
      text.append(" |\n");
    }
    return text.toString();
  }

  /**
   * The rows of each operation of ranks on hosts of their own; of several that have the same once.
   */
  private static String choices(AlgorithmSelector selector) {
    Map<List<String>, List<String>> operationsByRows = new LinkedHashMap<>();
    OPERATIONS.forEach(
        (name, operation) ->
            operationsByRows
                .computeIfAbsent(rows(selector, name, operation), each -> new ArrayList<>())
                .add(label(name)));
    StringBuilder text =
        new StringBuilder("| operation | ranks | algorithm, by size |\n|---|---|---|\n");
    operationsByRows.forEach(
        (rows, names) -> {
          text.append("| ").append(String.join(", ", names)).append(" | ");
          text.append(String.join(" |\n| | ", rows)).append(" |\n");
        });
    return text.toString();
  }

  /** A row for the worlds whose choices are the same, with the sizes up to which each is chosen. */
  private static List<String> rows(AlgorithmSelector selector, String suffix, Operation operation) {
    Map<String, List<String>> worldsByChoice = new LinkedHashMap<>();
    for (int ranks : WORLDS) {
      List<String> names = new ArrayList<>();
      for (long bytes : SIZES) {
        HostTensor tensor = LARGEST.slice(0, bytes / Float.BYTES);
        String name = ChosenAlgorithm.of(ranks, peers -> operation.begin(selector, peers, tensor));
        names.add(words(name.substring(0, name.length() - suffix.length())));
      }
      worldsByChoice
          .computeIfAbsent(bySize(names), each -> new ArrayList<>())
          .add(String.valueOf(ranks));
    }
    if (worldsByChoice.size() == 1) {
      return List.of("any | " + worldsByChoice.keySet().iterator().next());
    }
    return worldsByChoice.entrySet().stream()
        .map(row -> String.join(", ", row.getValue()) + " | " + row.getKey())
        .toList();
  }

  /** The names of the algorithms for each of the sizes, each once. */
  private static String bySize(List<String> names) {
    List<String> text = new ArrayList<>();
    for (int size = 0; size < names.size(); size++) {
      String name = names.get(size);
      if (size + 1 == names.size()) {
        text.add(name);
      } else if (!name.equals(names.get(size + 1))) {
        text.add(name + " to " + size(SIZES.get(size)));
      }
    }
    return String.join(", ", text);
  }

  private static String label(String operation) {
    return words(operation).replace(' ', '-');
  }

  /** {@code RecursiveDoubling} is recursive doubling. */
  private static String words(String name) {
    return name.replaceAll("(?<=[a-z])(?=[A-Z])", " ").toLowerCase(Locale.ROOT);
  }

  private static String size(long bytes) {
    if (bytes >= 1 << 20) {
      return (bytes >> 20) + " MiB";
    }
    return bytes >= 1 << 10 ? (bytes >> 10) + " KiB" : bytes + " B";
  }
}
