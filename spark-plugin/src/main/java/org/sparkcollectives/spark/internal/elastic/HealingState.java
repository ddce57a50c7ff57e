package org.sparkcollectives.spark.internal.elastic;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.stream.Collectors;
import org.sparkcollectives.ProcessGroup;
import org.sparkcollectives.Tensor;
import org.sparkcollectives.Work;
import org.sparkcollectives.spark.internal.protocol.RunKeys;
import org.sparkcollectives.spark.internal.protocol.StateVersion;
import org.sparkcollectives.spi.tensor.HostTensor;
import org.sparkcollectives.spi.tensor.TensorBytes;
import org.sparkcollectives.store.Store;

/** The tensors of a replica that others receive, and that checkpoints keep. Not thread-safe. */
final class HealingState {

  private static final int TAG = 0;

  /** The size of a value in the driver's store, which takes it in smaller messages. */
  private static final int PIECE_BYTES = 64 << 20;

  /** One more than is needed: who restores one may read it while the next is written. */
  private static final int KEPT_CHECKPOINTS = 2;

  /** The longest layout that is told in full. */
  private static final int MOST_LAYOUT_CHARACTERS = 4 << 10;

  /** By name, so that all replicas have them in the same order. */
  private final Map<String, List<HostTensor>> tensors = new TreeMap<>();

  void add(String name, Tensor... more) {
    if (more.length == 0) {
      throw new IllegalArgumentException("State \"" + name + "\" has no tensors");
    }
    List<HostTensor> host = Arrays.stream(more).map(HostTensor::of).toList();
    if (tensors.putIfAbsent(name, host) != null) {
      throw new IllegalArgumentException("State \"" + name + "\" is registered twice");
    }
  }

  boolean isEmpty() {
    return tensors.isEmpty();
  }

  private List<HostTensor> all() {
    return tensors.values().stream().flatMap(List::stream).toList();
  }

  long bytes() {
    return TensorBytes.size(all());
  }

  /** Returns a text with names, types and shapes, which is the same on replicas of one model. */
  String layout() {
    String text =
        tensors.entrySet().stream()
            .map(
                each ->
                    each.getKey()
                        + " "
                        + each.getValue().stream()
                            .map(tensor -> tensor.dtype() + Arrays.toString(tensor.shape()))
                            .collect(Collectors.joining(" ")))
            .collect(Collectors.joining(", "));
    return text.length() <= MOST_LAYOUT_CHARACTERS
        ? text
        : text.substring(0, MOST_LAYOUT_CHARACTERS) + "… " + text.hashCode();
  }

  /** Sends the state to some ranks at once. Blocks until they have it. */
  void send(ProcessGroup group, List<Integer> receivers) {
    List<Work> works = new ArrayList<>();
    for (int receiver : receivers) {
      all().forEach(tensor -> works.add(group.send(tensor, receiver, TAG)));
    }
    works.forEach(Work::await);
  }

  /** Receives the state from a rank. Blocks until it is there. */
  void receive(ProcessGroup group, int source) {
    List<Work> works = new ArrayList<>();
    all().forEach(tensor -> works.add(group.recv(tensor, source, TAG)));
    works.forEach(Work::await);
  }

  /** Keeps the state in the keys of the run. Blocks until it is kept. */
  void save(Store run, StateVersion version) {
    TensorBytes bytes = new TensorBytes(all());
    for (int piece = 0; !bytes.isAtEnd(); piece++) {
      run.set(RunKeys.checkpoint(version) + piece, bytes.next(PIECE_BYTES));
    }
    run.set(RunKeys.complete(version), new byte[0]);
    removeOlder(run);
  }

  /** Removes all others, also what was left by one who died while it wrote. */
  private static void removeOlder(Store run) {
    List<String> keys = run.listKeys();
    List<String> kept =
        keys.stream()
            .map(RunKeys::checkpoint)
            .flatMap(Optional::stream)
            .sorted(Comparator.reverseOrder())
            .limit(KEPT_CHECKPOINTS)
            .map(RunKeys::checkpoint)
            .toList();
    run.deleteKeys(
        keys.stream()
            .filter(key -> key.startsWith(RunKeys.CHECKPOINTS))
            .filter(key -> kept.stream().noneMatch(key::startsWith))
            .toList());
  }

  /** Reads what {@link #save} has kept. Blocks until it is there. */
  void restore(Store run, StateVersion version) {
    TensorBytes bytes = new TensorBytes(all());
    for (int piece = 0; !bytes.isAtEnd(); piece++) {
      bytes.fill(run.get(RunKeys.checkpoint(version) + piece));
    }
  }
}
