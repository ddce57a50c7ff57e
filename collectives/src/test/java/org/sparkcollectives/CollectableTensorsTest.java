package org.sparkcollectives;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.ref.WeakReference;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.provider.MethodSource;
import org.sparkcollectives.ddp.GradientReducer;
import org.sparkcollectives.ddp.Parameter;
import org.sparkcollectives.ddp.ReducerOptions;
import org.sparkcollectives.testing.Eventually;
import org.sparkcollectives.testing.Paths;

/**
 * Specifies that a group which stays open keeps no tensor of an operation that has ended. Each
 * operation is the last of a group of its own, because what is kept is mostly the last one.
 */
@MethodSource("paths")
class CollectableTensorsTest extends PathsUnderTest {

  private static final int RANKS = 4;

  /** A count for the algorithms of small tensors. */
  private static final int FEW = 4;

  /** A count of several segments, and for the algorithms of large tensors. */
  private static final int MANY = 60_000;

  /** A count that no connection takes at once. */
  private static final int TOO_MANY = 4_000_000;

  /** The long time that all ranks of this JVM may take for one operation each. */
  private static final long LIMIT_SECONDS = 300;

  /** Makes the tensors of one operation, and remembers them and their arrays weakly. */
  private static final class Made {
    private final ProcessGroup group;
    private final int count;
    private final boolean allocated;
    private final List<WeakReference<Object>> references = new ArrayList<>();

    Made(ProcessGroup group, int count, boolean allocated) {
      this.group = group;
      this.count = count;
      this.allocated = allocated;
    }

    Tensor one() {
      return some(count);
    }

    Tensor oneForEach() {
      return some(count * RANKS);
    }

    List<Tensor> list() {
      return IntStream.range(0, RANKS).mapToObj(i -> one()).toList();
    }

    SparseTensor sparse() {
      long[] indices = {group.rank()};
      return SparseTensor.of(
          new long[] {RANKS, count}, remembered(Tensor.of(indices).reshape(1, 1), indices), row());
    }

    private Tensor row() {
      float[] row = new float[count];
      return remembered(Tensor.of(row).reshape(1, count), row);
    }

    private Tensor some(int elements) {
      if (allocated) {
        return remembered(group.allocate(DType.FLOAT32, elements));
      }
      float[] data = new float[elements];
      return remembered(Tensor.of(data), data);
    }

    Object object() {
      float[] data = new float[count];
      return remembered(List.of(data), data);
    }

    <T> T remembered(T made, Object... parts) {
      references.add(new WeakReference<>(made));
      Arrays.stream(parts).forEach(each -> references.add(new WeakReference<>(each)));
      return made;
    }
  }

  /** Runs one operation to its end. */
  private interface Operation {
    void run(ProcessGroup group, Made made) throws Exception;
  }

  /** Returns all paths but those that differ from another in encryption or native code only. */
  static List<Paths> paths() {
    return Paths.all().stream()
        .filter(each -> !Set.of(Paths.NIO, Paths.CERTIFICATES, Paths.STRIPED_TLS).contains(each))
        .toList();
  }

  private static Map<String, Operation> operations() {
    Map<String, Operation> all = new TreeMap<>();
    collectives(all);
    distributions(all);
    messages(all);
    others(all);
    return all;
  }

  private static void collectives(Map<String, Operation> all) {
    all.put("broadcast", (group, made) -> group.broadcast(made.one(), 0).await());
    all.put("all-reduce", (group, made) -> group.allReduce(made.one()).await());
    all.put(
        "all-reduce without a wait",
        (group, made) -> {
          Work work = group.allReduce(made.one());
          Eventually.holds(work::isCompleted, () -> "not complete: " + work.exception());
        });
    all.put(
        "all-reduce with a future",
        (group, made) -> made.remembered(group.allReduce(made.one()).future().get()));
    all.put(
        "all-reduce coalesced",
        (group, made) -> group.allReduceCoalesced(made.list(), ReduceOp.SUM).await());
    all.put("all-reduce sparse", (group, made) -> group.allReduce(made.sparse()).await());
    all.put("reduce", (group, made) -> group.reduce(made.one(), 1).await());
    all.put(
        "broadcast coalesced",
        (group, made) -> group.broadcastCoalesced(made.list(), made.count * 6L, 0));
    all.put("barrier", (group, made) -> group.barrier().await());
    all.put("monitored barrier", (group, made) -> group.monitoredBarrier());
  }

  private static void distributions(Map<String, Operation> all) {
    all.put(
        "all-gather into", (group, made) -> group.allGather(made.oneForEach(), made.one()).await());
    all.put("all-gather", (group, made) -> group.allGather(made.list(), made.one()).await());
    all.put(
        "reduce-scatter into",
        (group, made) -> group.reduceScatter(made.one(), made.oneForEach()).await());
    all.put(
        "reduce-scatter", (group, made) -> group.reduceScatter(made.one(), made.list()).await());
    all.put(
        "gather",
        (group, made) ->
            group.gather(group.rank() == 0 ? made.list() : List.of(), made.one(), 0).await());
    all.put(
        "scatter",
        (group, made) ->
            group.scatter(made.one(), group.rank() == 0 ? made.list() : List.of(), 0).await());
    all.put(
        "all-to-all into",
        (group, made) -> group.allToAll(made.oneForEach(), made.oneForEach()).await());
    all.put("all-to-all", (group, made) -> group.allToAll(made.list(), made.list()).await());
  }

  private static void messages(Map<String, Operation> all) {
    all.put(
        "messages",
        (group, made) -> {
          Work sent = group.send(made.one(), next(group));
          group.recv(made.one(), previous(group)).await();
          sent.await();
        });
    all.put(
        "messages from any rank",
        (group, made) -> {
          Work received = group.recvAny(made.one());
          group.send(made.one(), next(group)).await();
          received.await();
        });
    all.put(
        "batch",
        (group, made) ->
            group
                .batch(
                    List.of(
                        P2POp.send(made.one(), next(group)),
                        P2POp.recv(made.one(), previous(group))))
                .forEach(Work::await));
  }

  private static void others(Map<String, Operation> all) {
    all.put(
        "block",
        (group, made) -> {
          Coalescing block = group.coalesce();
          try (block) {
            group.allReduce(made.one());
            group.allGather(made.list(), made.one());
          }
          block.work().await();
        });
    all.put(
        "objects",
        (group, made) -> {
          made.remembered(group.objects().broadcast(made.object(), 0));
          made.remembered(group.objects().allGather(made.object()));
          made.remembered(group.objects().gather(made.object(), 1));
        });
    all.put(
        "object messages",
        (group, made) -> {
          if (group.rank() % 2 == 0) {
            group.objects().send(made.object(), group.rank() + 1);
          } else {
            made.remembered(group.objects().recv(group.rank() - 1));
          }
        });
    all.put(
        "gradients",
        (group, made) -> {
          List<Parameter> parameters =
              IntStream.range(0, 2).mapToObj(i -> Parameter.of("p" + i, made.one())).toList();
          try (GradientReducer reducer =
              GradientReducer.create(group, parameters, ReducerOptions.defaults())) {
            reducer.beginForward();
            reducer.beginBackward();
            for (int i = 1; i >= 0; i--) {
              made.remembered(reducer.gradient(i));
              reducer.markReady(i);
            }
            reducer.finish();
          }
        });
  }

  private static int next(ProcessGroup group) {
    return (group.rank() + 1) % RANKS;
  }

  private static int previous(ProcessGroup group) {
    return (group.rank() + RANKS - 1) % RANKS;
  }

  @Test
  void anOpenGroupKeepsNoTensorOfAnOperationThatHasEnded() {
    Map<String, List<WeakReference<Object>>> kept = new ConcurrentSkipListMap<>();
    Meeting meeting = new Meeting(kept);
    ranks(
        RANKS,
        world -> {
          List<ProcessGroup> open = new ArrayList<>();
          for (Map.Entry<String, Operation> each : operations().entrySet()) {
            for (int count : new int[] {FEW, MANY}) {
              ProcessGroup group = world.newGroup();
              open.add(group);
              List<WeakReference<Object>> made = run(each.getValue(), group, count, count == MANY);
              kept.computeIfAbsent(
                      each.getKey() + " of " + count, name -> new CopyOnWriteArrayList<>())
                  .addAll(made);
            }
          }
          meeting.check(world);
          open.forEach(ProcessGroup::close);
          return null;
        });
  }

  /** Runs the operation in a frame of its own, which keeps nothing once it has returned. */
  private static List<WeakReference<Object>> run(
      Operation operation, ProcessGroup group, int count, boolean allocated) throws Exception {
    Made made = new Made(group, count, allocated);
    operation.run(group, made);
    return made.references;
  }

  @Test
  void aFailedGroupThatStaysOpenKeepsNoTensor() {
    Map<String, List<WeakReference<Object>>> kept = new ConcurrentSkipListMap<>();
    Meeting meeting = new Meeting(kept);
    ranks(
        RANKS,
        world -> {
          kept.put("failed on rank " + world.rank(), fail(world));
          meeting.check(world);
          return null;
        });
  }

  /** Begins what one rank never joins, with a tensor that is on its way when that fails. */
  private static List<WeakReference<Object>> fail(ProcessGroup world) {
    Made made = new Made(world, TOO_MANY, false);
    assertThatThrownBy(
            () -> {
              if (world.rank() == RANKS - 1) {
                world.recv(made.one(), 0).await();
              } else {
                world.withTimeout(Duration.ofMillis(500)).allReduce(made.one()).await();
              }
            })
        .isInstanceOf(CollectiveException.class);
    return new CopyOnWriteArrayList<>(made.references);
  }

  /** Lets one rank look for what is kept, while all have their groups open. */
  private record Meeting(
      Map<String, List<WeakReference<Object>>> kept, CountDownLatch come, CountDownLatch checked) {

    Meeting(Map<String, List<WeakReference<Object>>> kept) {
      this(kept, new CountDownLatch(RANKS), new CountDownLatch(1));
    }

    void check(ProcessGroup world) throws InterruptedException {
      come.countDown();
      if (world.rank() == 0) {
        try {
          await(come);
          assertCollectable();
        } finally {
          checked.countDown();
        }
      }
      await(checked);
    }

    private static void await(CountDownLatch latch) throws InterruptedException {
      assertThat(latch.await(LIMIT_SECONDS, TimeUnit.SECONDS)).isTrue();
    }

    private void assertCollectable() {
      Eventually.holdsAfterCollection(
          () -> {
            kept.values().forEach(each -> each.removeIf(reference -> reference.refersTo(null)));
            kept.values().removeIf(List::isEmpty);
            return kept.isEmpty();
          },
          () -> "open groups keep " + kept.keySet());
    }
  }
}
