package org.sparkcollectives.spark.internal.elastic;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import java.util.stream.Collectors;
import java.util.stream.LongStream;
import java.util.stream.Stream;
import org.sparkcollectives.ProcessGroup;
import org.sparkcollectives.Tensor;
import org.sparkcollectives.Work;
import org.sparkcollectives.spark.internal.protocol.RunKeys;
import org.sparkcollectives.spark.internal.protocol.StateVersion;
import org.sparkcollectives.spi.tensor.HostTensor;
import org.sparkcollectives.spi.tensor.TensorBytes;
import org.sparkcollectives.store.Store;

/**
 * What others receive of a replica, and what checkpoints keep: tensors whose sizes never change,
 * and parts whose sizes are told with them. Not thread-safe.
 */
final class HealingState {

  private static final int TAG = 0;

  /** The size of a value in the driver's store, which takes it in smaller messages. */
  private static final int PIECE_BYTES = 64 << 20;

  /** The key, within a checkpoint, of the sizes of its parts. */
  private static final String SIZES = "sizes";

  /** One more than is needed: who restores one may read it while the next is written. */
  private static final int KEPT_CHECKPOINTS = 2;

  /** The longest layout that is told in full. */
  private static final int MOST_LAYOUT_CHARACTERS = 4 << 10;

  private final int rank;

  /** By name, so that all replicas have them in the same order. */
  private final Map<String, List<HostTensor>> tensors = new TreeMap<>();

  private final Map<String, StatePart> parts = new TreeMap<>();

  /**
   * Creates the state of a rank of a replica, without tensors yet.
   *
   * @param rank of the replica
   */
  HealingState(int rank) {
    this.rank = rank;
  }

  void add(String name, Tensor... more) {
    if (more.length == 0) {
      throw new IllegalArgumentException("State \"" + name + "\" has no tensors");
    }
    List<HostTensor> host = Arrays.stream(more).map(HostTensor::of).toList();
    requireNew(name);
    tensors.put(name, host);
  }

  void add(String name, StatePart part) {
    requireNew(name);
    parts.put(name, part);
  }

  private void requireNew(String name) {
    if (tensors.containsKey(name) || parts.containsKey(name)) {
      throw new IllegalArgumentException("State \"" + name + "\" is registered twice");
    }
  }

  boolean isEmpty() {
    return tensors.isEmpty() && parts.isEmpty();
  }

  private Stream<HostTensor> fixed() {
    return tensors.values().stream().flatMap(List::stream);
  }

  /**
   * The state as it is now.
   *
   * @param sizes of each part, how many tensors it has, and the bytes of each
   * @param tensors the fixed ones, then those of the parts
   */
  private record Saved(long[] sizes, List<HostTensor> tensors) {}

  private Saved saved() {
    List<HostTensor> all = new ArrayList<>(fixed().toList());
    LongStream.Builder sizes = LongStream.builder();
    for (StatePart part : parts.values()) {
      List<HostTensor> own = part.save();
      sizes.add(own.size());
      own.forEach(each -> sizes.add(each.count()));
      all.addAll(own);
    }
    return new Saved(sizes.build().toArray(), all);
  }

  /** Returns tensors for a state of these sizes, which is loaded from there. */
  private List<HostTensor> room(long[] sizes) {
    List<HostTensor> all = new ArrayList<>(fixed().toList());
    int next = 0;
    for (StatePart part : parts.values()) {
      int count = (int) sizes[next++];
      all.addAll(part.room(Arrays.copyOfRange(sizes, next, next + count)));
      next += count;
    }
    return all;
  }

  /** Returns a text with names, types and shapes, which is the same on replicas of one model. */
  String layout() {
    String text =
        Stream.concat(
                tensors.entrySet().stream()
                    .map(
                        each ->
                            each.getKey()
                                + " "
                                + each.getValue().stream()
                                    .map(tensor -> tensor.dtype() + Arrays.toString(tensor.shape()))
                                    .collect(Collectors.joining(" "))),
                parts.keySet().stream().map(each -> each + " of any size"))
            .collect(Collectors.joining(", "));
    return text.length() <= MOST_LAYOUT_CHARACTERS
        ? text
        : text.substring(0, MOST_LAYOUT_CHARACTERS) + "… " + text.hashCode();
  }

  /** Sends the state to some ranks at once. Blocks until they have it. */
  void send(ProcessGroup group, List<Integer> receivers) {
    if (receivers.isEmpty()) {
      return;
    }
    Saved saved = saved();
    List<Work> works = new ArrayList<>();
    for (int receiver : receivers) {
      if (!parts.isEmpty()) {
        works.add(group.send(Tensor.of(new long[] {saved.sizes().length}), receiver, TAG));
        works.add(group.send(Tensor.of(saved.sizes()), receiver, TAG));
      }
      saved.tensors().forEach(tensor -> works.add(group.send(tensor, receiver, TAG)));
    }
    works.forEach(Work::await);
  }

  /** Receives the state from a rank. Blocks until it is there. Returns its bytes. */
  long receive(ProcessGroup group, int source) {
    long[] sizes = {};
    if (!parts.isEmpty()) {
      long[] count = new long[1];
      group.recv(Tensor.of(count), source, TAG).await();
      sizes = new long[(int) count[0]];
      group.recv(Tensor.of(sizes), source, TAG).await();
    }
    List<HostTensor> room = room(sizes);
    List<Work> works = new ArrayList<>();
    room.forEach(tensor -> works.add(group.recv(tensor, source, TAG)));
    works.forEach(Work::await);
    parts.values().forEach(StatePart::load);
    return TensorBytes.size(room);
  }

  /** Keeps this rank's part of a checkpoint in the keys of the run. Blocks until it is kept. */
  void save(Store run, StateVersion version) {
    if (run.check(List.of(RunKeys.complete(version)))) {
      // Of another replica. Whoever reads it must not find parts of two.
      return;
    }
    Saved saved = saved();
    if (!parts.isEmpty()) {
      ByteBuffer sizes = ByteBuffer.allocate(saved.sizes().length * Long.BYTES);
      sizes.asLongBuffer().put(saved.sizes());
      run.set(RunKeys.checkpoint(version, rank) + SIZES, sizes.array());
    }
    TensorBytes bytes = new TensorBytes(saved.tensors());
    for (int piece = 0; !bytes.isAtEnd(); piece++) {
      run.set(RunKeys.checkpoint(version, rank) + piece, bytes.next(PIECE_BYTES));
    }
  }

  /** Makes a checkpoint count of which all parts are kept, and removes those before the last. */
  static void complete(Store run, StateVersion version) {
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

  /** Reads the part that {@link #save} has kept. Blocks until it is there. */
  void restore(Store run, StateVersion version) {
    long[] sizes = {};
    if (!parts.isEmpty()) {
      byte[] kept = run.get(RunKeys.checkpoint(version, rank) + SIZES);
      sizes = new long[kept.length / Long.BYTES];
      ByteBuffer.wrap(kept).asLongBuffer().get(sizes);
    }
    TensorBytes bytes = new TensorBytes(room(sizes));
    for (int piece = 0; !bytes.isAtEnd(); piece++) {
      bytes.fill(run.get(RunKeys.checkpoint(version, rank) + piece));
    }
    parts.values().forEach(StatePart::load);
  }
}
