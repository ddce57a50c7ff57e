package org.sparkcollectives;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ArrayList;
import java.util.List;
import java.util.function.Supplier;
import java.util.stream.LongStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.sparkcollectives.spi.tensor.FaultyMemory;
import org.sparkcollectives.store.HashStore;

/** Tests whose failure it is when a tensor, a completion hook or a callback throws. */
class WhoseFailureTest extends FaultyRankContract {

  /** The uses of its memory that a rank makes before one throws. */
  private static final int[] SOUND_USES = {0, 1, 4};

  /** The operations, each in the form in which the guilty rank's tensor is read or written. */
  @SuppressWarnings("ImmutableEnumChecker") // The functions have no state.
  enum Operation {
    ALL_REDUCE((group, tensor, count) -> group.allReduce(tensor, ReduceOp.SUM)),
    BROADCAST_FROM((group, tensor, count) -> group.broadcast(tensor, GUILTY)),
    BROADCAST_TO((group, tensor, count) -> group.broadcast(tensor, 0)),
    REDUCE_TO((group, tensor, count) -> group.reduce(tensor, ReduceOp.SUM, GUILTY)),
    REDUCE_FROM((group, tensor, count) -> group.reduce(tensor, ReduceOp.SUM, 0)),
    ALL_GATHER_FROM((group, tensor, count) -> group.allGather(sound(count * SIZE), tensor)),
    ALL_GATHER_TO((group, tensor, count) -> group.allGather(tensor, sound(count / SIZE))),
    REDUCE_SCATTER_FROM(
        (group, tensor, count) -> group.reduceScatter(sound(count / SIZE), tensor, ReduceOp.SUM)),
    REDUCE_SCATTER_TO(
        (group, tensor, count) -> group.reduceScatter(tensor, sound(count * SIZE), ReduceOp.SUM)),
    ALL_TO_ALL_FROM((group, tensor, count) -> group.allToAll(sound(count), tensor)),
    ALL_TO_ALL_TO((group, tensor, count) -> group.allToAll(tensor, sound(count))),
    GATHER_FROM(
        (group, tensor, count) ->
            group.gather(group.rank() == 0 ? parts(SIZE, count) : List.of(), tensor, 0)),
    GATHER_TO(
        (group, tensor, count) ->
            group.gather(
                group.rank() == GUILTY ? with(tensor, SIZE, count) : List.of(),
                sound(count),
                GUILTY)),
    SCATTER_FROM(
        (group, tensor, count) ->
            group.scatter(
                sound(count),
                group.rank() == GUILTY ? with(tensor, SIZE, count) : List.of(),
                GUILTY)),
    SCATTER_TO(
        (group, tensor, count) ->
            group.scatter(tensor, group.rank() == 0 ? parts(SIZE, count) : List.of(), 0)),
    ALL_GATHER_TO_LIST(
        (group, tensor, count) -> group.allGather(with(tensor, SIZE, count), sound(count))),
    REDUCE_SCATTER_FROM_LIST(
        (group, tensor, count) ->
            group.reduceScatter(sound(count), with(tensor, SIZE, count), ReduceOp.SUM)),
    ALL_TO_ALL_FROM_LIST(
        (group, tensor, count) -> group.allToAll(parts(SIZE, count), with(tensor, SIZE, count))),
    ALL_REDUCE_SPARSE((group, tensor, count) -> group.allReduce(sparse(tensor, count))),
    ALL_REDUCE_COALESCED(
        (group, tensor, count) -> group.allReduceCoalesced(with(tensor, 3, count), ReduceOp.SUM)),
    BROADCAST_COALESCED_FROM(
        (group, tensor, count) -> broadcastCoalesced(group, with(tensor, 3, count), GUILTY)),
    BROADCAST_COALESCED_TO(
        (group, tensor, count) -> broadcastCoalesced(group, with(tensor, 3, count), 0)),
    SEND((group, tensor, count) -> message(group, tensor, GUILTY, 2)),
    RECEIVE((group, tensor, count) -> message(group, tensor, 2, GUILTY)),
    RECEIVE_FIRST(
        (group, tensor, count) ->
            group.rank() == GUILTY ? group.recvAny(tensor, 0) : message(group, tensor, 2, GUILTY)),
    BATCH_SENT((group, tensor, count) -> batch(group, tensor, sound(count))),
    BATCH_RECEIVED((group, tensor, count) -> batch(group, sound(count), tensor)),
    BLOCK_SENT((group, tensor, count) -> block(group, tensor, sound(count))),
    BLOCK_RECEIVED((group, tensor, count) -> block(group, sound(count), tensor));

    /** Smaller tensors of a coalesced broadcast share a buffer. */
    private static final int BUFFER_BYTES = 4 * LARGE;

    private final Call call;

    Operation(Call call) {
      this.call = call;
    }

    private interface Call {

      /** Begins the operation; returns null if this rank has no part in it, or it has ended. */
      Work begin(ProcessGroup group, Tensor tensor, int count);
    }

    private static List<Tensor> parts(int number, int count) {
      return Stream.generate(() -> sound(count)).limit(number).toList();
    }

    /** Returns a list of tensors of which the second is {@code tensor}. */
    private static List<Tensor> with(Tensor tensor, int number, int count) {
      List<Tensor> parts = new ArrayList<>(parts(number, count));
      parts.set(1, tensor);
      return parts;
    }

    private static Tensor sound(int count) {
      return Tensor.allocate(DType.FLOAT32, count);
    }

    private static SparseTensor sparse(Tensor values, int count) {
      long[] places = LongStream.range(0, count).toArray();
      return SparseTensor.of(new long[] {count}, Tensor.of(places).reshape(1, count), values);
    }

    private static Work broadcastCoalesced(ProcessGroup group, List<Tensor> tensors, int root) {
      group.broadcastCoalesced(tensors, BUFFER_BYTES, root);
      return null;
    }

    /** Exchanges messages between the guilty rank and rank 2 in a batch. */
    private static Work batch(ProcessGroup group, Tensor sent, Tensor received) {
      if (group.rank() == GUILTY || group.rank() == 2) {
        int peer = GUILTY + 2 - group.rank();
        group
            .batch(List.of(P2POp.send(sent, peer, 0), P2POp.recv(received, peer, 0)))
            .forEach(Work::await);
      }
      return null;
    }

    /** Exchanges the same messages in a block of operations. */
    private static Work block(ProcessGroup group, Tensor sent, Tensor received) {
      if (group.rank() != GUILTY && group.rank() != 2) {
        return null;
      }
      int peer = GUILTY + 2 - group.rank();
      Coalescing block = group.coalesce();
      try (block) {
        group.send(sent, peer, 0);
        group.recv(received, peer, 0);
      }
      return block.work();
    }

    private static Work message(ProcessGroup group, Tensor tensor, int from, int to) {
      if (group.rank() == from) {
        return group.send(tensor, to, 0);
      }
      return group.rank() == to ? group.recv(tensor, from, 0) : null;
    }
  }

  private static Supplier<Throwable> faultOf(int sound) {
    return sound % 2 == 0
        ? () -> new IllegalStateException("the memory was closed")
        : () -> new OutOfMemoryError("no memory to write to");
  }

  @ParameterizedTest
  @EnumSource(Operation.class)
  void theRankWhoseTensorThrowsIsNamedByAll(Operation operation) {
    try (HashStore store = new HashStore()) {
      for (int count : new int[] {SMALL, LARGE}) {
        for (int sound : SOUND_USES) {
          Supplier<Throwable> fault = faultOf(sound);
          FaultyMemory memory = new FaultyMemory(sound, fault);
          List<Throwable> failures =
              failures(
                  store,
                  group -> {
                    Tensor tensor =
                        group.rank() == GUILTY
                            ? memory.tensor(DType.FLOAT32, count)
                            : Tensor.allocate(DType.FLOAT32, count);
                    Work work = operation.call.begin(group, tensor, count);
                    if (work != null) {
                      work.await();
                    }
                    group.barrier().await();
                  });
          if (!memory.hasThrown()) {
            assertThat(failures).as("after %s uses", sound).containsOnlyNulls();
            break;
          }
          assertNamed(failures, fault.get(), operation + " of " + count + " after " + sound);
        }
      }
      workAgain(store);
    }
  }

  private static void assertNamed(List<Throwable> failures, Throwable fault, String what) {
    for (int rank = 0; rank < SIZE; rank++) {
      Throwable failure = failures.get(rank);
      assertThat(failure)
          .as("%s, rank %s", what, rank)
          .isInstanceOf(CollectiveException.class)
          .hasMessageContaining(fault.toString());
      if (rank != GUILTY) {
        assertThat(failure)
            .as("%s, rank %s", what, rank)
            .isInstanceOfSatisfying(
                PeerFailedException.class,
                peer -> {
                  assertThat(peer.failure().rank()).isEqualTo(GUILTY);
                  assertThat(peer.failure().kind()).isEqualTo(Failure.Kind.EXCEPTION);
                });
      }
    }
  }

  /** What a callback throws is in the future that it has made; it concerns no rank. */
  @Test
  void whatACallbackThrowsIsInItsFutureAndTheGroupGoesOn() {
    try (HashStore store = new HashStore()) {
      List<Throwable> failures =
          failures(
              store,
              group -> {
                group.onCompletion(
                    record -> {
                      throw new StackOverflowError("of a hook");
                    });
                List<Work> works = new ArrayList<>();
                works.add(group.allReduce(Tensor.of(1f), ReduceOp.SUM));
                Work message = Operation.message(group, Tensor.of(1f), GUILTY, 2);
                if (message != null) {
                  works.add(message);
                }
                works.add(group.barrier());
                for (Work work : works) {
                  var callback =
                      work.future()
                          .thenAccept(
                              tensors -> {
                                throw new StackOverflowError("of a callback");
                              });
                  work.await();
                  assertThatThrownBy(callback::join)
                      .hasRootCauseInstanceOf(StackOverflowError.class);
                }
                group.barrier().await();
              });
      assertThat(failures).containsOnlyNulls();
      workAgain(store);
    }
  }
}
