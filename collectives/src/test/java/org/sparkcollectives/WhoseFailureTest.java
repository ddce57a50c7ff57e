package org.sparkcollectives;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;

import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.function.IntFunction;
import java.util.function.Supplier;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.Parameter;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.sparkcollectives.ddp.CommHooks;
import org.sparkcollectives.ddp.GradientBucket;
import org.sparkcollectives.ddp.GradientReducer;
import org.sparkcollectives.ddp.ReducerOptions;
import org.sparkcollectives.object.ObjectCodec;
import org.sparkcollectives.spi.HostedGroups;
import org.sparkcollectives.spi.RankContext;
import org.sparkcollectives.spi.tensor.FaultyMemory;
import org.sparkcollectives.store.HashStore;
import org.sparkcollectives.store.Store;
import org.sparkcollectives.testing.InvocationName;
import org.sparkcollectives.testing.LeakCheck;
import org.sparkcollectives.testing.Paths;
import org.sparkcollectives.testing.RankThreads;

/**
 * Tests that the rank whose code throws is the one that every rank names, over each path, whichever
 * thread the code runs on; that nothing hangs, no thread dies of it, and the next group works.
 */
@ExtendWith({LeakCheck.class, InvocationName.class})
@ParameterizedClass(name = "{0}")
@MethodSource("paths")
class WhoseFailureTest {

  private static final int SIZE = 4;
  private static final int GUILTY = 1;
  private static final int SMALL = 12;

  /** More than what a message is copied at once of. */
  private static final int LARGE = 120_000;

  /** The uses of its memory that a rank makes before one throws. */
  private static final int[] SOUND_USES = {0, 1, 4};

  private final Queue<Throwable> uncaught = new ConcurrentLinkedQueue<>();
  private Thread.UncaughtExceptionHandler before;

  @Parameter private Paths paths;

  /**
   * Returns a path of each kind: in one JVM, over sockets of this thread and of an event loop, in
   * parts, in shared memory, and between JVMs of several ranks. {@code -Dpaths} names others.
   */
  static List<Paths> paths() {
    return Paths.named(
        List.of(
            Paths.HEAP,
            Paths.TCP,
            Paths.EVENT_LOOP,
            Paths.STRIPED,
            Paths.SHM,
            Paths.MIXED,
            Paths.INTERLEAVED));
  }

  /** On an executor, this handler ends the process. */
  @BeforeEach
  void collectWhatNobodyCatches() {
    before = Thread.getDefaultUncaughtExceptionHandler();
    Thread.setDefaultUncaughtExceptionHandler((thread, thrown) -> uncaught.add(thrown));
  }

  @AfterEach
  void nothingWasLeftToTheJvm() {
    Thread.setDefaultUncaughtExceptionHandler(before);
    assertThat(uncaught).isEmpty();
  }

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
    SEND((group, tensor, count) -> message(group, tensor, GUILTY, 2)),
    RECEIVE((group, tensor, count) -> message(group, tensor, 2, GUILTY)),
    RECEIVE_FIRST(
        (group, tensor, count) ->
            group.rank() == GUILTY ? group.recvAny(tensor, 0) : message(group, tensor, 2, GUILTY));

    private final Call call;

    Operation(Call call) {
      this.call = call;
    }

    private interface Call {

      /** Begins the operation; returns null if this rank has no part in it. */
      Work begin(ProcessGroup group, Tensor tensor, int count);
    }

    private static Tensor sound(int count) {
      return Tensor.allocate(DType.FLOAT32, count);
    }

    private static Work message(ProcessGroup group, Tensor tensor, int from, int to) {
      if (group.rank() == from) {
        return group.send(tensor, to, 0);
      }
      return group.rank() == to ? group.recv(tensor, from, 0) : null;
    }
  }

  private Supplier<Throwable> faultOf(int sound) {
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

  private interface Body {
    void run(ProcessGroup group) throws Exception;
  }

  /** Returns what each rank's code throws. */
  private List<Throwable> failures(Store store, Body body) {
    return failures(store, paths::context, body);
  }

  private List<Throwable> failures(Store store, IntFunction<RankContext> contexts, Body body) {
    return RankThreads.run(
        SIZE,
        rank -> {
          Throwable thrown = null;
          try (ProcessGroup group =
              HostedGroups.create(store, rank, SIZE, paths.options(), contexts.apply(rank))) {
            try {
              body.run(group);
            } catch (CollectiveException e) {
              thrown = e;
            }
          }
          return thrown;
        });
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

  private void workAgain(Store store) {
    List<Throwable> failures =
        failures(
            store,
            group -> {
              int[] sum = {1};
              group.allReduce(Tensor.of(sum), ReduceOp.SUM).await();
              assertThat(sum).containsExactly(SIZE);
            });
    assertThat(failures).containsOnlyNulls();
  }

  /** The group goes on, so only those are told for whom the object was. */
  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void theRankWhoseCodecThrowsIsNamedByAllThatMissAnObjectForIt(boolean writes) {
    List<Supplier<Throwable>> faults =
        List.of(
            () -> new IllegalStateException("of a codec"),
            () -> new IOException("of a codec"),
            () -> new StackOverflowError("of a codec"));
    try (HashStore store = new HashStore()) {
      for (int after : new int[] {0, SMALL, 1_000, 5_000_000}) {
        Supplier<Throwable> fault = faults.get(after % faults.size());
        ObjectCodec sound = new FaultyCodec(writes, after, null);
        ObjectCodec faulty = new FaultyCodec(writes, after, fault);
        int from = writes ? GUILTY : 2;
        int to = writes ? 2 : GUILTY;
        List<Throwable> failures =
            failures(
                store,
                rank -> FaultyCodec.host(paths.context(rank), rank == GUILTY ? faulty : sound),
                group -> {
                  String object = group.rank() == from ? FaultyCodec.FAULTY : "sound";
                  ObjectCollectives objects = group.objects();
                  boolean told = writes || group.rank() == GUILTY;
                  assertCodecNamed(told, fault, () -> objects.broadcast(object, from));
                  assertCodecNamed(told, fault, () -> objects.allGather(object));
                  if (group.rank() == from) {
                    assertCodecNamed(writes, fault, () -> objects.send(object, to));
                  } else if (group.rank() == to) {
                    assertCodecNamed(true, fault, () -> objects.recv(from));
                  }
                  assertThat(objects.allGather(group.rank())).containsExactly(0, 1, 2, 3);
                });
        assertThat(failures).as("after %s bytes", after).containsOnlyNulls();
      }
      workAgain(store);
    }
  }

  private static void assertCodecNamed(
      boolean told, Supplier<Throwable> fault, ThrowingCallable call) {
    if (told) {
      assertThatThrownBy(call)
          .isInstanceOf(ObjectSerializationException.class)
          .hasMessageContaining("rank " + GUILTY + " could not ")
          .hasMessageContaining(fault.get().toString());
    } else {
      assertThatCode(call).doesNotThrowAnyException();
    }
  }

  /** The places at which a hook's code runs. */
  @SuppressWarnings("ImmutableEnumChecker") // The functions have no state.
  enum HookPlace {
    CALL(
        (bucket, fault) -> {
          throw fault.get();
        }),
    FUTURE((bucket, fault) -> CompletableFuture.failedFuture(fault.get())),
    CALLBACK(
        (bucket, fault) ->
            sum(bucket)
                .thenApply(
                    sum -> {
                      throw fault.get();
                    })),
    EXECUTOR(
        (bucket, fault) ->
            sum(bucket)
                .thenApplyAsync(
                    sum -> {
                      throw fault.get();
                    },
                    bucket.executor()));

    private final Hook hook;

    HookPlace(Hook hook) {
      this.hook = hook;
    }

    private interface Hook {
      CompletableFuture<Tensor> run(GradientBucket bucket, Supplier<Error> fault);
    }

    private static CompletableFuture<Tensor> sum(GradientBucket bucket) {
      return CommHooks.allReduce().run(bucket);
    }
  }

  private static org.sparkcollectives.ddp.Parameter parameter(int count) {
    return org.sparkcollectives.ddp.Parameter.of("w", Tensor.allocate(DType.FLOAT32, count));
  }

  @ParameterizedTest
  @EnumSource(HookPlace.class)
  void theRankWhoseHookThrowsIsNamedByAllAndTheReducersParentGoesOn(HookPlace place) {
    try (HashStore store = new HashStore()) {
      for (int count : new int[] {SMALL, LARGE}) {
        Supplier<Error> fault = () -> new OutOfMemoryError("no room for a hook");
        List<Throwable> failures =
            failures(
                store,
                world -> {
                  Throwable thrown;
                  try (GradientReducer reducer =
                      GradientReducer.create(
                          world, List.of(parameter(count)), ReducerOptions.defaults())) {
                    reducer.setCommHook(
                        bucket ->
                            world.rank() == GUILTY
                                ? place.hook.run(bucket, fault)
                                : HookPlace.sum(bucket));
                    world.barrier().await(); // All have the reducer before one of them fails.
                    thrown =
                        catchThrowable(
                            () -> {
                              // In the second step the others hear of it that had a sum before.
                              for (int step = 0; step < 2; step++) {
                                reducer.beginForward();
                                reducer.reduce();
                              }
                            });
                  }
                  int[] sum = {1};
                  world.allReduce(Tensor.of(sum), ReduceOp.SUM).await();
                  assertThat(sum).containsExactly(SIZE);
                  throw (CollectiveException) thrown;
                });
        for (int rank = 0; rank < SIZE; rank++) {
          assertThat(failures.get(rank))
              .as("%s of %s, rank %s", place, count, rank)
              .hasMessageContaining(fault.get().toString())
              .hasMessageContaining("rank " + GUILTY);
          if (rank != GUILTY) {
            assertThat(failures.get(rank))
                .isInstanceOfSatisfying(
                    PeerFailedException.class,
                    peer -> assertThat(peer.failure().rank()).isEqualTo(GUILTY));
          }
        }
      }
      workAgain(store);
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
