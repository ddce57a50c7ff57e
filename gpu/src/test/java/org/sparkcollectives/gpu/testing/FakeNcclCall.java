package org.sparkcollectives.gpu.testing;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.List;
import java.util.function.Consumer;

/** A call in a stream. First it publishes its data to the peers, then it collects theirs. */
record FakeNcclCall(long stream, Runnable publishing, Runnable collecting) {

  void publish() {
    publishing.run();
  }

  void collect() {
    collecting.run();
  }

  /** The parameters that all calls share. */
  record Target(
      FakeCuda cuda,
      FakeCommunicator communicator,
      long stream,
      long count,
      int type,
      FakeReductions reductions) {

    ByteBuffer bytes(long address, long elements) {
      // An empty tensor has no address.
      return elements == 0
          ? ByteBuffer.allocate(0)
          : cuda.memory().bytes(address, elements * FakeElements.bytes(type));
    }

    ByteBuffer copy(long address, long elements) {
      ByteBuffer from = bytes(address, elements);
      return ByteBuffer.allocate(from.capacity()).put(from).flip().order(ByteOrder.nativeOrder());
    }

    void write(long address, ByteBuffer from) {
      bytes(address, from.capacity() / FakeElements.bytes(type)).put(from.duplicate().rewind());
    }
  }

  private static FakeNcclCall collective(
      Target target, String what, Supplier part, Consumer<List<ByteBuffer>> end) {
    int number = target.communicator.collectives.getAndIncrement();
    return new FakeNcclCall(
        target.stream,
        () -> {
          if (!target.communicator.gone) {
            target.communicator.exchange.publish(number, target.communicator, what, part.get());
          }
        },
        () -> {
          List<ByteBuffer> all = target.communicator.exchange.collect(number, target.communicator);
          if (all != null) {
            end.accept(all);
          }
        });
  }

  /** Reads a part when the stream has reached the call. */
  private interface Supplier {
    ByteBuffer get();
  }

  /** Returns a part, followed by the factor of a reduction that was created for it. */
  private static ByteBuffer withFactor(Target target, ByteBuffer part, int op) {
    return ByteBuffer.allocate(part.capacity() + Double.BYTES)
        .order(ByteOrder.nativeOrder())
        .put(part)
        .putDouble(target.reductions.factor(op))
        .rewind();
  }

  private static ByteBuffer reduced(Target target, List<ByteBuffer> all, int op) {
    double[] factors =
        all.stream().mapToDouble(each -> each.getDouble(each.capacity() - Double.BYTES)).toArray();
    List<ByteBuffer> parts =
        all.stream()
            .map(each -> each.slice(0, each.capacity() - Double.BYTES).order(each.order()))
            .toList();
    return FakeElements.reduce(
        target.type,
        Math.min(op, FakeReductions.FIRST),
        parts,
        op < FakeReductions.FIRST ? null : factors);
  }

  private static String described(String what, Target target, int op, int root) {
    return what
        + " of "
        + target.count
        + " x "
        + target.type
        + " by "
        + Math.min(op, FakeReductions.FIRST)
        + " at "
        + root;
  }

  static FakeNcclCall reduction(
      Target target, String what, long send, long receive, int op, int root) {
    return collective(
        target,
        described(what, target, op, root),
        () -> withFactor(target, target.copy(send, target.count), op),
        all -> {
          if (root < 0 || root == target.communicator.rank) {
            target.write(receive, reduced(target, all, op));
          }
        });
  }

  static FakeNcclCall broadcast(Target target, long send, long receive, int root) {
    boolean here = root == target.communicator.rank;
    return collective(
        target,
        described("broadcast", target, 0, root),
        () -> here ? target.copy(send, target.count) : ByteBuffer.allocate(0),
        all -> target.write(receive, all.get(root)));
  }

  static FakeNcclCall allGather(Target target, long send, long receive) {
    return collective(
        target,
        described("all-gather", target, 0, -1),
        () -> target.copy(send, target.count),
        all -> {
          for (int rank = 0; rank < all.size(); rank++) {
            target.write(receive + (long) rank * all.get(rank).capacity(), all.get(rank));
          }
        });
  }

  static FakeNcclCall allToAll(Target target, long send, long receive) {
    return collective(
        target,
        described("all-to-all", target, 0, -1),
        () -> target.copy(send, target.count * target.communicator.size),
        all -> {
          for (int rank = 0; rank < all.size(); rank++) {
            int part = all.get(rank).capacity() / all.size();
            target.write(
                receive + (long) rank * part,
                all.get(rank).slice(target.communicator.rank * part, part));
          }
        });
  }

  static FakeNcclCall reduceScatter(Target target, long send, long receive, int op) {
    long all = target.count * target.communicator.size;
    return collective(
        target,
        described("reduce-scatter", target, op, -1),
        () -> withFactor(target, target.copy(send, all), op),
        parts -> {
          ByteBuffer sum = reduced(target, parts, op);
          int own = sum.capacity() / target.communicator.size;
          target.write(
              receive,
              sum.slice(target.communicator.rank * own, own).order(ByteOrder.nativeOrder()));
        });
  }

  static FakeNcclCall send(Target target, long address, int peer) {
    return new FakeNcclCall(
        target.stream,
        () ->
            target.communicator.exchange.send(
                target.communicator.rank, peer, target.copy(address, target.count)),
        () -> {});
  }

  static FakeNcclCall receive(Target target, long address, int peer) {
    return new FakeNcclCall(
        target.stream,
        () -> {},
        () -> {
          ByteBuffer message = target.communicator.exchange.receive(peer, target.communicator);
          if (message != null) {
            target.write(address, message);
          }
        });
  }
}
