package org.sparkcollectives.spark.internal.elastic;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.TreeMap;
import java.util.function.Consumer;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.sparkcollectives.ProcessGroup;
import org.sparkcollectives.Tensor;
import org.sparkcollectives.Work;
import org.sparkcollectives.spark.internal.protocol.RunKeys;
import org.sparkcollectives.spark.internal.protocol.StateVersion;
import org.sparkcollectives.spi.tensor.HostTensor;
import org.sparkcollectives.spi.tensor.TensorBytes;
import org.sparkcollectives.store.Store;

/** The state of a replica that others receive, and that checkpoints keep. Not thread-safe. */
final class HealingState {

  private static final int TAG = 0;

  /** The size of a value in the driver's store, which takes it in smaller messages. */
  private static final int PIECE_BYTES = 64 << 20;

  /** One more than is needed: who restores one may read it while the next is written. */
  private static final int KEPT_CHECKPOINTS = 2;

  /** The longest layout that is told in full. */
  private static final int MOST_LAYOUT_CHARACTERS = 4 << 10;

  /** The part of a checkpoint that says how long what functions have written is. */
  private static final String LENGTHS = "lengths";

  /** By name, so that all replicas have them in the same order. */
  private final Map<String, List<HostTensor>> tensors = new TreeMap<>();

  /** By name, what is written to bytes. */
  private final Map<String, Written> written = new TreeMap<>();

  private record Written(Supplier<byte[]> save, Consumer<byte[]> load) {}

  void add(String name, Tensor... more) {
    if (more.length == 0) {
      throw new IllegalArgumentException("State \"" + name + "\" has no tensors");
    }
    List<HostTensor> host = Arrays.stream(more).map(HostTensor::of).toList();
    requireNew(name);
    tensors.put(name, host);
  }

  void add(String name, Supplier<byte[]> save, Consumer<byte[]> load) {
    Objects.requireNonNull(save, "save");
    Objects.requireNonNull(load, "load");
    requireNew(name);
    written.put(name, new Written(save, load));
  }

  private void requireNew(String name) {
    if (tensors.containsKey(name) || written.containsKey(name)) {
      throw new IllegalArgumentException("State \"" + name + "\" is registered twice");
    }
  }

  boolean isEmpty() {
    return tensors.isEmpty() && written.isEmpty();
  }

  private List<byte[]> saved() {
    return written.values().stream().map(each -> each.save().get()).toList();
  }

  private void load(List<byte[]> saved) {
    Iterator<byte[]> next = saved.iterator();
    written.values().forEach(each -> each.load().accept(next.next()));
  }

  /** Returns all tensors, and behind them what functions have written. */
  private List<HostTensor> all(List<byte[]> saved) {
    return Stream.concat(
            tensors.values().stream().flatMap(List::stream),
            saved.stream().filter(each -> each.length > 0).map(Tensor::of).map(HostTensor::of))
        .toList();
  }

  private static long[] lengths(List<byte[]> saved) {
    return saved.stream().mapToLong(each -> each.length).toArray();
  }

  private static List<byte[]> ofLengths(long[] lengths) {
    return Arrays.stream(lengths).mapToObj(each -> new byte[Math.toIntExact(each)]).toList();
  }

  /** Returns a text with names, types and shapes, which is the same on replicas of one model. */
  String layout() {
    Stream<String> functions = written.keySet().stream().map(each -> each + " written");
    Stream<String> shapes =
        tensors.entrySet().stream()
            .map(
                each ->
                    each.getKey()
                        + " "
                        + each.getValue().stream()
                            .map(tensor -> tensor.dtype() + Arrays.toString(tensor.shape()))
                            .collect(Collectors.joining(" ")));
    String text = Stream.concat(shapes, functions).collect(Collectors.joining(", "));
    return text.length() <= MOST_LAYOUT_CHARACTERS
        ? text
        : text.substring(0, MOST_LAYOUT_CHARACTERS) + "… " + text.hashCode();
  }

  /** Sends the state to some ranks at once. Blocks until they have it. */
  void send(ProcessGroup group, List<Integer> receivers) {
    if (receivers.isEmpty()) {
      return;
    }
    List<byte[]> saved = saved();
    List<Work> works = new ArrayList<>();
    for (int receiver : receivers) {
      if (!saved.isEmpty()) {
        works.add(group.send(Tensor.of(lengths(saved)), receiver, TAG));
      }
      all(saved).forEach(tensor -> works.add(group.send(tensor, receiver, TAG)));
    }
    works.forEach(Work::await);
  }

  /**
   * Receives the state from a rank. Blocks until it is there.
   *
   * @return its bytes
   */
  long receive(ProcessGroup group, int source) {
    long[] lengths = new long[written.size()];
    if (lengths.length > 0) {
      group.recv(Tensor.of(lengths), source, TAG).await();
    }
    List<byte[]> saved = ofLengths(lengths);
    List<HostTensor> all = all(saved);
    List<Work> works = new ArrayList<>();
    all.forEach(tensor -> works.add(group.recv(tensor, source, TAG)));
    works.forEach(Work::await);
    load(saved);
    return TensorBytes.size(all);
  }

  /** Keeps the state in the keys of the run. Blocks until it is kept. */
  void save(Store run, StateVersion version) {
    List<byte[]> saved = saved();
    if (!saved.isEmpty()) {
      run.set(RunKeys.checkpoint(version) + LENGTHS, bytes(lengths(saved)).next(PIECE_BYTES));
    }
    TensorBytes bytes = new TensorBytes(all(saved));
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
    long[] lengths = new long[written.size()];
    if (lengths.length > 0) {
      bytes(lengths).fill(run.get(RunKeys.checkpoint(version) + LENGTHS));
    }
    List<byte[]> saved = ofLengths(lengths);
    TensorBytes bytes = new TensorBytes(all(saved));
    for (int piece = 0; !bytes.isAtEnd(); piece++) {
      bytes.fill(run.get(RunKeys.checkpoint(version) + piece));
    }
    load(saved);
  }

  private static TensorBytes bytes(long[] numbers) {
    return new TensorBytes(List.of(HostTensor.of(Tensor.of(numbers))));
  }
}
