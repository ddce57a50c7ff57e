package org.sparkcollectives.gpu.testing;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;

/** A call in a stream. First it gives its data to the peers, then it takes theirs. */
record FakeNcclCall(long stream, Runnable giving, Runnable taking) {

  private static final int FIRST_MADE_OP = 5;

  void give() {
    giving.run();
  }

  void take() {
    taking.run();
  }

  /** The parameters that all calls share. */
  record Target(
      FakeCuda cuda,
      FakeNccl.Member member,
      long stream,
      long count,
      int type,
      Map<Integer, Double> factors) {

    ByteBuffer bytes(long address, long elements) {
      // An empty tensor has no address.
      return elements == 0
          ? ByteBuffer.allocate(0)
          : cuda.bytes(address, elements * FakeElements.bytes(type));
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
    int number = target.member.collectives.getAndIncrement();
    return new FakeNcclCall(
        target.stream,
        () -> {
          if (!target.member.gone) {
            target.member.exchange.give(number, target.member, what, part.get());
          }
        },
        () -> {
          List<ByteBuffer> all = target.member.exchange.take(number, target.member);
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
        .putDouble(op < FIRST_MADE_OP ? 1 : target.factors.get(op))
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
        target.type, Math.min(op, FIRST_MADE_OP), parts, op < FIRST_MADE_OP ? null : factors);
  }

  private static String described(String what, Target target, int op, int root) {
    return what
        + " of "
        + target.count
        + " x "
        + target.type
        + " by "
        + Math.min(op, FIRST_MADE_OP)
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
          if (root < 0 || root == target.member.rank) {
            target.write(receive, reduced(target, all, op));
          }
        });
  }

  static FakeNcclCall broadcast(Target target, long send, long receive, int root) {
    boolean here = root == target.member.rank;
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
        () -> target.copy(send, target.count * target.member.size),
        all -> {
          for (int rank = 0; rank < all.size(); rank++) {
            int part = all.get(rank).capacity() / all.size();
            target.write(
                receive + (long) rank * part, all.get(rank).slice(target.member.rank * part, part));
          }
        });
  }

  static FakeNcclCall reduceScatter(Target target, long send, long receive, int op) {
    long all = target.count * target.member.size;
    return collective(
        target,
        described("reduce-scatter", target, op, -1),
        () -> withFactor(target, target.copy(send, all), op),
        parts -> {
          ByteBuffer sum = reduced(target, parts, op);
          int own = sum.capacity() / target.member.size;
          target.write(
              receive, sum.slice(target.member.rank * own, own).order(ByteOrder.nativeOrder()));
        });
  }

  static FakeNcclCall send(Target target, long address, int peer) {
    return new FakeNcclCall(
        target.stream,
        () ->
            target.member.exchange.send(
                target.member.rank, peer, target.copy(address, target.count)),
        () -> {});
  }

  static FakeNcclCall receive(Target target, long address, int peer) {
    return new FakeNcclCall(
        target.stream,
        () -> {},
        () -> {
          ByteBuffer message = target.member.exchange.receive(peer, target.member);
          if (message != null) {
            target.write(address, message);
          }
        });
  }
}
