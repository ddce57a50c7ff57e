package org.sparkcollectives.algorithm;

import java.util.Arrays;
import java.util.BitSet;
import org.sparkcollectives.kernel.ReduceKernel;
import org.sparkcollectives.tensor.HostTensor;
import org.sparkcollectives.transport.Pair;
import org.sparkcollectives.transport.Peers;

/**
 * One rank of a simulated group: lets an algorithm run to its end without a peer, and keeps what it
 * sent and what it waited for. Nothing is moved, so an algorithm must not look at the data.
 */
final class SimulatedRank implements Peers {

  private final int rank;
  private final int size;
  private final BitSet connected = new BitSet();
  private int[] calls = new int[16];
  private int length;
  private long messages;
  private long bytes;

  SimulatedRank(int rank, int size) {
    this.rank = rank;
    this.size = size;
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
  public void flush() {}

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
