package org.sparkcollectives.internal.algorithm;

import java.util.Arrays;
import java.util.BitSet;
import java.util.List;
import java.util.Optional;
import java.util.stream.IntStream;
import org.sparkcollectives.DType;
import org.sparkcollectives.internal.kernel.ReduceKernel;
import org.sparkcollectives.internal.transport.Hierarchy;
import org.sparkcollectives.internal.transport.Level;
import org.sparkcollectives.internal.transport.Locality;
import org.sparkcollectives.internal.transport.Pair;
import org.sparkcollectives.internal.transport.Peers;
import org.sparkcollectives.internal.transport.RackOrder;
import org.sparkcollectives.internal.transport.Reach;
import org.sparkcollectives.internal.transport.SharedRegion;
import org.sparkcollectives.spi.tensor.HostTensor;

/**
 * One rank of a simulated group: lets an algorithm run to its end without a peer, and keeps what it
 * sent and what it waited for. Nothing is moved, so an algorithm must not look at the data.
 */
final class SimulatedRank implements Peers {

  private final int rank;
  private final int size;
  private final BitSet connected = new BitSet();
  private Kind[] kinds = new Kind[16];
  private int[] peers = new int[16];
  private long[] sizes = new long[16];
  private int length;
  private long messages;
  private long bytes;
  private long waits;
  private Optional<Hierarchy> hierarchy = Optional.empty();
  private Optional<Locality> racks = Optional.empty();
  private Optional<RackOrder> rackOrder = Optional.empty();
  private int[] jvm = {};

  /** The kind of a step. */
  enum Kind {
    /** Begins to send bytes to a peer. */
    SEND,

    /** Waits for a message of a peer. */
    RECEIVE,

    /** Waits until all that it sends has left. */
    FLUSH,

    /** Waits for all ranks of its JVM. */
    WAIT,

    /** Reads bytes of another rank of its JVM. */
    MOVE
  }

  SimulatedRank(int rank, int size) {
    this.rank = rank;
    this.size = size;
  }

  /** From now on ranks of a JVM see each other's memory. */
  void divide(Locality jvms) {
    jvm = jvms.ranks(jvms.node(rank));
    hierarchy =
        Optional.of(
            Hierarchy.of(
                this, jvms, new Region(jvms.index(rank), jvms.sizeOf(jvms.node(rank))), List.of()));
  }

  /** From now on the ranks, each on a host of its own, are in racks. */
  void place(Locality byRack) {
    racks = Optional.of(byRack);
    Locality hosts = Locality.of(IntStream.range(0, size).boxed().toList());
    rackOrder = Optional.of(new RackOrder(this, byRack, hosts));
    hierarchy = Hierarchy.messages(this, 0, List.of(Level.racks(byRack)));
  }

  /** How often it waited for all ranks of its JVM. */
  long waits() {
    return waits;
  }

  /** The ranks of its JVM. */
  int[] jvm() {
    return jvm;
  }

  /** How much it did. */
  int length() {
    return length;
  }

  /** Returns the kind of the step at an index. */
  Kind kind(int index) {
    return kinds[index];
  }

  /** With whom. */
  int peer(int index) {
    return peers[index];
  }

  /** Returns the bytes of the step at an index. */
  long bytes(int index) {
    return sizes[index];
  }

  long messages() {
    return messages;
  }

  long bytes() {
    return bytes;
  }

  /** The bytes that it sent to ranks of other nodes. */
  long bytesBetween(Locality nodes) {
    long between = 0;
    for (int i = 0; i < length; i++) {
      if (kinds[i] == Kind.SEND && nodes.node(peers[i]) != nodes.node(rank)) {
        between += sizes[i];
      }
    }
    return between;
  }

  /** The peers to which it sent, or from which it received. */
  int connections() {
    return connected.cardinality();
  }

  private void keep(Kind kind, int peer, long size) {
    if (length == kinds.length) {
      kinds = Arrays.copyOf(kinds, 2 * length);
      peers = Arrays.copyOf(peers, 2 * length);
      sizes = Arrays.copyOf(sizes, 2 * length);
    }
    kinds[length] = kind;
    peers[length] = peer;
    sizes[length] = size;
    length++;
    if (kind == Kind.SEND || kind == Kind.RECEIVE) {
      connected.set(peer);
    }
  }

  @Override
  public int rank() {
    return rank;
  }

  @Override
  public int size() {
    return size;
  }

  @Override
  public Optional<Hierarchy> hierarchy() {
    return hierarchy;
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
  public void flush() {
    keep(Kind.FLUSH, rank, 0);
  }

  /** Memory in which all publish the same. */
  private final class Region implements SharedRegion {
    private final int index;
    private final int ranks;
    private List<HostTensor> published = List.of();

    Region(int index, int ranks) {
      this.index = index;
      this.ranks = ranks;
    }

    @Override
    public int rank() {
      return index;
    }

    @Override
    public int size() {
      return ranks;
    }

    @Override
    public void publish(List<HostTensor> tensors) {
      waits++;
      keep(Kind.WAIT, rank, 0);
      published = tensors;
    }

    @Override
    public HostTensor publishedBy(int peer, int place, DType dtype, long count) {
      keep(Kind.MOVE, rank, count * dtype.bytes());
      return place < published.size() && published.get(place).count() == count
          ? published.get(place)
          : HostTensor.allocate(dtype, count);
    }

    @Override
    public boolean mayWriteTo(int peer, int index) {
      return false;
    }

    @Override
    public void publishProgress(long amount) {}

    @Override
    public long progressOf(int peer) {
      return Long.MAX_VALUE;
    }

    @Override
    public void awaitProgress(int peer, long amount) {}

    @Override
    public void check() {}

    @Override
    public void finish() {
      waits++;
      keep(Kind.WAIT, rank, 0);
    }

    @Override
    public void leave() {}
  }

  @Override
  public Pair pair(int peer) {
    return new Pair() {
      @Override
      public int peer() {
        return peer;
      }

      @Override
      public void send(HostTensor tensor) {
        messages++;
        bytes += tensor.byteSize();
        keep(Kind.SEND, peer, tensor.byteSize());
      }

      @Override
      public void queue(HostTensor tensor) {
        send(tensor);
      }

      @Override
      public boolean hasMessage() {
        return true;
      }

      @Override
      public void receive(HostTensor tensor) {
        keep(Kind.RECEIVE, peer, 0);
      }

      @Override
      public void receiveAndReduce(HostTensor accumulator, ReduceKernel kernel) {
        keep(Kind.RECEIVE, peer, 0);
      }
    };
  }
}
