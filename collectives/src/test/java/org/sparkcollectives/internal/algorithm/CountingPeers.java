package org.sparkcollectives.internal.algorithm;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import org.sparkcollectives.DType;
import org.sparkcollectives.OpType;
import org.sparkcollectives.internal.kernel.ReduceKernel;
import org.sparkcollectives.internal.transport.Cancellation;
import org.sparkcollectives.internal.transport.EventCount;
import org.sparkcollectives.internal.transport.Hierarchy;
import org.sparkcollectives.internal.transport.Level;
import org.sparkcollectives.internal.transport.Locality;
import org.sparkcollectives.internal.transport.OperationHeader;
import org.sparkcollectives.internal.transport.Pair;
import org.sparkcollectives.internal.transport.Peers;
import org.sparkcollectives.internal.transport.Progress;
import org.sparkcollectives.internal.transport.RackOrder;
import org.sparkcollectives.internal.transport.Reach;
import org.sparkcollectives.internal.transport.heap.HeapGroup;
import org.sparkcollectives.internal.transport.heap.HeapPair;
import org.sparkcollectives.internal.transport.heap.HeapRegion;
import org.sparkcollectives.spi.tensor.HostTensor;

/** Peers over the heap that count what a rank sends, and how long the chain of messages is. */
final class CountingPeers implements Peers {

  private static final Cancellation NEVER =
      new Cancellation() {
        @Override
        public void check() {}

        @Override
        public void interrupted() {}
      };

  private static final OperationHeader HEADER =
      new OperationHeader(OpType.UNKNOWN, 0, DType.UINT8, 0);

  private final int rank;
  private final Pair[] pairs;
  private final Progress progress = new Progress(new EventCount(Duration.ZERO), NEVER);
  private final boolean[] used;
  private final long[] bytesTo;
  private Optional<Hierarchy> hierarchy = Optional.empty();
  private Optional<Locality> racks = Optional.empty();
  private Optional<RackOrder> rackOrder = Optional.empty();
  private long messages;
  private long bytes;
  private long received;
  private long receivedBytes;

  CountingPeers(HeapGroup group, int rank, int size) {
    this.rank = rank;
    this.pairs = new Pair[size];
    this.used = new boolean[size];
    this.bytesTo = new long[size];
    group.join(rank, progress);
    for (int peer = 0; peer < size; peer++) {
      pairs[peer] =
          peer == rank
              ? null
              : new CountingPair(new HeapPair(group, rank, peer, progress, () -> HEADER, null));
    }
  }

  /** From now on ranks of a JVM see each other's memory, and JVMs of a host are near each other. */
  void divide(HeapGroup heap, Locality jvms, Locality hosts) {
    divide(heap, jvms, hosts, null);
  }

  /**
   * From now on hosts are in racks, too.
   *
   * @param racks null if they are not
   */
  void divide(HeapGroup heap, Locality jvms, Locality hosts, Locality racks) {
    heap.join(rank, progress);
    int[] here = jvms.ranks(jvms.node(rank));
    List<Level> levels = new ArrayList<>(List.of(Level.hosts(hosts)));
    if (racks != null) {
      levels.add(Level.racks(racks));
      this.racks = Optional.of(racks);
      rackOrder = Optional.of(new RackOrder(this, racks, hosts));
    }
    hierarchy =
        jvms.largest() == 1
            ? Hierarchy.messages(this, 0, levels)
            : Optional.of(
                Hierarchy.of(
                    this, jvms, new HeapRegion(heap, rank, here, progress, () -> HEADER), levels));
  }

  /** Whether this rank has sent to a peer, or received from it. */
  boolean uses(int peer) {
    return used[peer];
  }

  /** The bytes of the messages that this rank has sent to a peer. */
  long bytesTo(int peer) {
    return bytesTo[peer];
  }

  /** The messages that this rank has sent. */
  long messages() {
    return messages;
  }

  /** The bytes of those messages. */
  long bytes() {
    return bytes;
  }

  /** The messages that this rank has waited for. */
  long received() {
    return received;
  }

  /** The bytes of those messages. */
  long receivedBytes() {
    return receivedBytes;
  }

  /** The peers that this rank has sent to or received from. */
  int peersUsed() {
    int count = 0;
    for (boolean each : used) {
      count += each ? 1 : 0;
    }
    return count;
  }

  @Override
  public int rank() {
    return rank;
  }

  @Override
  public int size() {
    return pairs.length;
  }

  @Override
  public Pair pair(int peer) {
    return Objects.requireNonNull(pairs[peer], "a path to itself");
  }

  @Override
  public Reach reach() {
    return racks.isPresent() ? Reach.RACKS : Reach.NETWORK;
  }

  @Override
  public Optional<Locality> racks() {
    return racks;
  }

  @Override
  public Optional<RackOrder> rackOrder() {
    return rackOrder;
  }

  @Override
  public Optional<Hierarchy> hierarchy() {
    return hierarchy;
  }

  @Override
  public void flush() {
    progress.flush();
  }

  private final class CountingPair implements Pair {
    private final Pair pair;

    CountingPair(Pair pair) {
      this.pair = pair;
    }

    @Override
    public int peer() {
      return pair.peer();
    }

    @Override
    public void send(HostTensor tensor) {
      count(tensor);
      pair.send(tensor);
    }

    @Override
    public void queue(HostTensor tensor) {
      count(tensor);
      pair.queue(tensor);
    }

    private void count(HostTensor tensor) {
      messages++;
      bytes += tensor.byteSize();
      bytesTo[peer()] += tensor.byteSize();
      used[peer()] = true;
    }

    @Override
    public boolean hasMessage() {
      return pair.hasMessage();
    }

    @Override
    public void receive(HostTensor tensor) {
      received++;
      receivedBytes += tensor.byteSize();
      used[peer()] = true;
      pair.receive(tensor);
    }

    @Override
    public void receiveAndReduce(HostTensor accumulator, ReduceKernel kernel) {
      received++;
      receivedBytes += accumulator.count() * kernel.inputType().bytes();
      used[peer()] = true;
      pair.receiveAndReduce(accumulator, kernel);
    }
  }
}
