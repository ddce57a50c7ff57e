package org.sparkcollectives;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.PriorityQueue;
import java.util.concurrent.atomic.LongAdder;
import org.junit.jupiter.api.Test;

/** Specifies the exchange of objects. */
interface ObjectExchangeContract extends RanksUnderTest {

  List<Integer> SIZES = List.of(1, 2, 4);

  /** Lengths around the borders of the first frame, of the later frames, and of growing buffers. */
  List<Integer> LENGTHS =
      List.of(
          0, 1, 980, 1000, 1002, 1003, 1004, 1005, 1006, 1007, 1008, 1010, 1015, 1016, 1024, 5000,
          66_000, 4_194_290, 4_195_305, 4_195_306, 4_195_309, 4_196_400, 8_400_000);

  @Test
  default void broadcastGivesTheRootsObjectToAll() {
    for (int size : SIZES) {
      ranks(
          size,
          group -> {
            for (int root = 0; root < size; root++) {
              Map<String, Object> object = Map.of("root", root, "more", List.of(1, 2));
              Map<String, Object> mine = group.rank() == root ? object : null;
              assertThat(group.objects().broadcast(mine, root)).isEqualTo(object);
              assertThat(group.objects().<Object>broadcast(null, root)).isNull();
            }
            return null;
          });
    }
  }

  /** Whatever carries an object carries all of it: a sum that is transient, and a comparator. */
  @Test
  default void everyOperationCarriesTheWholeStateOfAnObject() {
    ranks(
        2,
        group -> {
          ObjectCollectives objects = group.objects();
          boolean first = group.rank() == 0;
          LongAdder adder = new LongAdder();
          adder.add(4);
          PriorityQueue<Integer> queue = new PriorityQueue<>(Comparator.reverseOrder());
          queue.addAll(List.of(1, 2, 3));
          Map<String, Object> object = Map.of("adder", adder, "queue", queue);
          List<Map<String, ?>> received = new ArrayList<>();
          received.add(objects.broadcast(first ? object : null, 0));
          received.addAll(objects.allGather(object));
          List<Map<String, Object>> gathered = objects.gather(object, 1);
          received.addAll(first ? List.of() : gathered);
          received.add(objects.scatter(first ? List.of(object, object) : null, 0));
          if (first) {
            objects.send(object, 1, 0);
          } else {
            received.add(objects.recv(0, 0));
          }
          for (Map<String, ?> each : received) {
            assertThat(each.get("adder")).hasToString("4");
            assertThat(((PriorityQueue<?>) each.get("queue")).peek()).isEqualTo(3);
          }
          return null;
        });
  }

  @Test
  default void objectsOfAnySizeArrive() {
    ranks(
        2,
        group -> {
          for (int length : LENGTHS) {
            byte[] object = Samples.bytes(length, 1);
            byte[] mine = group.rank() == 1 ? object : null;
            assertThat(group.objects().broadcast(mine, 1)).isEqualTo(object);
            if (group.rank() == 1) {
              group.objects().send(object, 0, 5);
            } else {
              assertThat(group.objects().<byte[]>recv(1, 5)).isEqualTo(object);
            }
          }
          return null;
        });
  }

  @Test
  default void allGatherPutsTheObjectsInRankOrder() {
    for (int size : SIZES) {
      ranks(
          size,
          group -> {
            for (int shift = 0; shift < LENGTHS.size(); shift += 3) {
              List<byte[]> all = new ArrayList<>();
              for (int rank = 0; rank < size; rank++) {
                all.add(Samples.bytes(LENGTHS.get((shift + 5 * rank) % LENGTHS.size()), rank));
              }
              List<byte[]> gathered = group.objects().allGather(all.get(group.rank()));
              assertThat(gathered).usingElementComparator(Arrays::compare).isEqualTo(all);
            }
            return null;
          });
    }
  }

  @Test
  default void allGatherTakesNulls() {
    ranks(
        3,
        group -> {
          String mine = group.rank() == 1 ? null : "rank " + group.rank();
          assertThat(group.objects().allGather(mine))
              .isEqualTo(Arrays.asList("rank 0", null, "rank 2"));
          return null;
        });
  }

  @Test
  default void gatherPutsTheObjectsInRankOrderAtTheRoot() {
    for (int size : SIZES) {
      ranks(
          size,
          group -> {
            for (int root = 0; root < size; root++) {
              for (int length : new int[] {3, 1007, 5_000_000}) {
                List<byte[]> gathered =
                    group
                        .objects()
                        .gather(Samples.bytes(length + group.rank(), group.rank()), root);
                if (group.rank() != root) {
                  assertThat(gathered).isNull();
                  continue;
                }
                assertThat(gathered).hasSize(size);
                for (int rank = 0; rank < size; rank++) {
                  assertThat(gathered.get(rank)).isEqualTo(Samples.bytes(length + rank, rank));
                }
              }
            }
            return null;
          });
    }
  }

  @Test
  default void scatterGivesEachRankItsObject() {
    for (int size : SIZES) {
      ranks(
          size,
          group -> {
            for (int root = 0; root < size; root++) {
              for (int length : new int[] {3, 1007, 5_000_000}) {
                List<byte[]> objects = new ArrayList<>();
                for (int rank = 0; rank < size; rank++) {
                  objects.add(Samples.bytes(length + rank, rank));
                }
                byte[] mine = group.objects().scatter(group.rank() == root ? objects : null, root);
                assertThat(mine).isEqualTo(Samples.bytes(length + group.rank(), group.rank()));
              }
            }
            return null;
          });
    }
  }

  @Test
  default void messagesWithOneTagKeepTheirOrderAndOthersDoNotWait() {
    ranks(
        2,
        group -> {
          if (group.rank() == 0) {
            group.objects().send("first", 1, 1);
            group.objects().send(null, 1, 1);
            group.send(Tensor.of(7), 1, 2).await();
            group.objects().send(Samples.bytes(3_000_000, 3), 1, 1);
          } else {
            assertThat(group.objects().<String>recv(0, 1)).isEqualTo("first");
            assertThat(group.objects().<Object>recv(0, 1)).isNull();
            int[] seven = {0};
            group.recv(Tensor.of(seven), 0, 2).await();
            assertThat(seven).containsExactly(7);
            assertThat(group.objects().<byte[]>recv(0, 1)).isEqualTo(Samples.bytes(3_000_000, 3));
          }
          return null;
        });
  }

  @Test
  default void aRankGetsItsOwnObjectBack() {
    ranks(
        2,
        group -> {
          Object own = new Object();
          assertThat(group.objects().<Object>broadcast(group.rank() == 0 ? own : null, 0))
              .matches(seen -> group.rank() != 0 || seen == own);
          assertThat(group.objects().allGather(own).get(group.rank())).isSameAs(own);
          return null;
        });
  }
}
