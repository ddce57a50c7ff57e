package org.sparkcollectives;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.ref.WeakReference;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentSkipListMap;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.Test;
import org.sparkcollectives.testing.Eventually;

/** Tests that no operation of a group, and no failure, leaves a tensor in the group. */
class CollectableTensorsTest extends CollectableTensorsContract {

  /** A count that no connection takes at once. */
  private static final int TOO_MANY = 4_000_000;

  @Override
  protected Map<String, Operation> operations() {
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
        (group, made) -> group.broadcastCoalesced(made.list(), made.count() * 6L, 0));
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
  }

  private static int next(ProcessGroup group) {
    return (group.rank() + 1) % RANKS;
  }

  private static int previous(ProcessGroup group) {
    return (group.rank() + RANKS - 1) % RANKS;
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
    return new CopyOnWriteArrayList<>(made.references());
  }
}
