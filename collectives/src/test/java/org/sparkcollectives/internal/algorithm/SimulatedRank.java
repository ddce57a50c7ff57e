package org.sparkcollectives.internal.algorithm;

import java.util.Arrays;
import java.util.BitSet;
import java.util.List;
import java.util.Optional;
import org.sparkcollectives.DType;
import org.sparkcollectives.internal.kernel.ReduceKernel;
import org.sparkcollectives.internal.transport.Hierarchy;
import org.sparkcollectives.internal.transport.Locality;
import org.sparkcollectives.internal.transport.Pair;
import org.sparkcollectives.internal.transport.Peers;
import org.sparkcollectives.internal.transport.SharedRegion;
import org.sparkcollectives.spi.tensor.HostTensor;

/**
 * One rank of a simulated group: lets an algorithm run to its end without a peer, and keeps what it
 * sent and what it waited for. Nothing is moved, so an algorithm must not look at the data.
 */
final class SimulatedRank implements Peers {

  private static final Locality ONE_HOST = Locality.of(List.of("host"));

  private final int rank;
  private final int size;
  private final BitSet connected = new BitSet();
  private int[] calls = new int[16];
  private int length;
  private long messages;
  private long bytes;
  private long waits;
  private Optional<Hierarchy> hierarchy = Optional.empty();

  SimulatedRank(int rank, int size) {
    this.rank = rank;
    this.size = size;
  }

  /** From now on ranks of a JVM see each other's memory. */
  void divide(Locality jvms) {
    hierarchy =
        Optional.of(
            Hierarchy.of(
                this, jvms, new Region(jvms.index(rank), jvms.sizeOf(jvms.node(rank))), ONE_HOST));
  }

  /** How often it waited for all ranks of its JVM. */
  long waits() {
    return waits;
  }

  /** How many sends and receives there were. */
  int length() {
    return length;
  }

  /** Whether the call with this index was a send, else it was a receive. */
  boolean isSend(int index) {
    return calls[index] >= 0;
  }

  /** With whom. */
  int peer(int index) {
    return calls[index] >= 0 ? calls[index] : ~calls[index];
  }

  long messages() {
    return messages;
  }

  long bytes() {
    return bytes;
  }

  /** The peers to which it sent, or from which it received. */
  int connections() {
    return connected.cardinality();
  }

  private void keep(int call, int peer) {
    if (length == calls.length) {
      calls = Arrays.copyOf(calls, 2 * length);
    }
    calls[length++] = call;
    connected.set(peer);
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
  public void flush() {}

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
      published = tensors;
    }

    @Override
    public HostTensor publishedBy(int peer, int place, DType dtype, long count) {
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
        keep(peer, peer);
      }

      @Override
      public boolean hasMessage() {
        return true;
      }

      @Override
      public void receive(HostTensor tensor) {
        keep(~peer, peer);
      }

      @Override
      public void receiveAndReduce(HostTensor accumulator, ReduceKernel kernel) {
        keep(~peer, peer);
      }
    };
  }
}
