package org.sparkcollectives;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.esotericsoftware.kryo.Kryo;
import com.esotericsoftware.kryo.KryoSerializable;
import com.esotericsoftware.kryo.io.Input;
import com.esotericsoftware.kryo.io.Output;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BiFunction;
import java.util.function.Function;
import java.util.stream.IntStream;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.sparkcollectives.testing.GroupRuns;
import org.sparkcollectives.testing.LeakCheck;

/** Objects among ranks, over every path. */
@ExtendWith(LeakCheck.class)
abstract class ObjectsContractTest {

  private static final int[] SIZES = {1, 2, 4};

  /** Around the borders of the first frame, of the frames after it, and of growing buffers. */
  private static final int[] LENGTHS = {
    0, 1, 980, 1000, 1005, 1006, 1007, 1008, 1010, 1015, 1016, 1024, 5000, 66_000, 4_194_290,
    4_195_309, 4_196_400, 8_400_000
  };

  /** The paths under test. */
  abstract GroupOptions options();

  private <T> List<T> ranks(int size, GroupRuns.Body<T> body) {
    return GroupRuns.run(size, options(), body);
  }

  /** Bytes that differ by place and by {@code seed}. */
  private static byte[] bytes(int length, int seed) {
    byte[] bytes = new byte[length];
    for (int i = 0; i < length; i++) {
      bytes[i] = (byte) (i * 31 + (i >> 8) + seed);
    }
    return bytes;
  }

  private static void assertInStep(ProcessGroup group) {
    int[] one = {1};
    group.allReduce(Tensor.of(one), ReduceOp.SUM).await();
    assertThat(one[0]).isEqualTo(group.size());
    assertThat(group.objects().allGather(group.rank()))
        .isEqualTo(IntStream.range(0, group.size()).boxed().toList());
  }

  /** Cannot be serialised, but only after {@code before} bytes have been. */
  private static List<Object> unserializable(int before) {
    return Arrays.asList(bytes(before, 0), new Thread());
  }

  private static void assertRefused(ThrowingCallable call, int rank) {
    assertThatThrownBy(call)
        .isInstanceOf(ObjectSerializationException.class)
        .hasMessageContaining(
            "rank " + rank + " could not serialise its object of class java.util.Arrays$ArrayList")
        .hasMessageContaining("java.lang.Thread")
        .hasMessageContaining("the group stays usable");
  }

  @Test
  void broadcastGivesTheRootsObjectToAll() {
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

  @Test
  void objectsOfAnySizeArrive() {
    ranks(
        2,
        group -> {
          for (int length : LENGTHS) {
            byte[] object = bytes(length, 1);
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
  void allGatherPutsTheObjectsInRankOrder() {
    for (int size : SIZES) {
      ranks(
          size,
          group -> {
            for (int shift = 0; shift < LENGTHS.length; shift += 3) {
              List<byte[]> all = new ArrayList<>();
              for (int rank = 0; rank < size; rank++) {
                all.add(bytes(LENGTHS[(shift + 5 * rank) % LENGTHS.length], rank));
              }
              List<byte[]> gathered = group.objects().allGather(all.get(group.rank()));
              assertThat(gathered).usingElementComparator(Arrays::compare).isEqualTo(all);
            }
            return null;
          });
    }
  }

  @Test
  void allGatherTakesNulls() {
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
  void gatherPutsTheObjectsInRankOrderAtTheRoot() {
    for (int size : SIZES) {
      ranks(
          size,
          group -> {
            for (int root = 0; root < size; root++) {
              for (int length : new int[] {3, 1007, 5_000_000}) {
                List<byte[]> gathered =
                    group.objects().gather(bytes(length + group.rank(), group.rank()), root);
                if (group.rank() != root) {
                  assertThat(gathered).isNull();
                  continue;
                }
                assertThat(gathered).hasSize(size);
                for (int rank = 0; rank < size; rank++) {
                  assertThat(gathered.get(rank)).isEqualTo(bytes(length + rank, rank));
                }
              }
            }
            return null;
          });
    }
  }

  @Test
  void scatterGivesEachRankItsObject() {
    for (int size : SIZES) {
      ranks(
          size,
          group -> {
            for (int root = 0; root < size; root++) {
              for (int length : new int[] {3, 1007, 5_000_000}) {
                List<byte[]> objects = new ArrayList<>();
                for (int rank = 0; rank < size; rank++) {
                  objects.add(bytes(length + rank, rank));
                }
                byte[] mine = group.objects().scatter(group.rank() == root ? objects : null, root);
                assertThat(mine).isEqualTo(bytes(length + group.rank(), group.rank()));
              }
            }
            return null;
          });
    }
  }

  @Test
  void messagesWithOneTagKeepTheirOrderAndOthersDoNotWait() {
    ranks(
        2,
        group -> {
          if (group.rank() == 0) {
            group.objects().send("first", 1, 1);
            group.objects().send(null, 1, 1);
            group.send(Tensor.of(7), 1, 2).await();
            group.objects().send(bytes(3_000_000, 3), 1, 1);
          } else {
            assertThat(group.objects().<String>recv(0, 1)).isEqualTo("first");
            assertThat(group.objects().<Object>recv(0, 1)).isNull();
            int[] seven = {0};
            group.recv(Tensor.of(seven), 0, 2).await();
            assertThat(seven).containsExactly(7);
            assertThat(group.objects().<byte[]>recv(0, 1)).isEqualTo(bytes(3_000_000, 3));
          }
          return null;
        });
  }

  @Test
  void aRankGetsItsOwnObjectBack() {
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

  @Test
  void aFailedSerializationIsToldToAllAndLeavesTheGroupInStep() {
    for (int before : new int[] {0, 500, 1100, 5_000_000, 13_000_000}) {
      ranks(
          3,
          group -> {
            ObjectCollectives objects = group.objects();
            Object mine = group.rank() == 1 ? unserializable(before) : "fine";
            assertRefused(() -> objects.broadcast(mine, 1), 1);
            assertInStep(group);
            assertRefused(() -> objects.allGather(mine), 1);
            assertInStep(group);
            return null;
          });
    }
  }

  @Test
  void aFailedSerializationIsToldToTheRankThatWaitsForTheObject() {
    for (int before : new int[] {0, 1100, 5_000_000}) {
      ranks(
          4,
          group -> {
            ObjectCollectives objects = group.objects();
            int rank = group.rank();
            Object mine = rank == 1 ? unserializable(before) : "fine";
            if (rank == 1 || rank == 2) {
              assertRefused(() -> objects.gather(mine, 2), 1);
            } else {
              assertThat(objects.gather(mine, 2)).isNull();
            }
            assertInStep(group);
            List<Object> all =
                rank == 0 ? Arrays.asList("a", "b", unserializable(before), "d") : null;
            if (rank == 0 || rank == 2) {
              assertRefused(() -> objects.scatter(all, 0), 0);
            } else {
              assertThat(objects.scatter(all, 0)).isEqualTo(rank == 1 ? "b" : "d");
            }
            assertInStep(group);
            if (rank == 1) {
              assertRefused(() -> objects.send(mine, 3, 0), 1);
              objects.send("after", 3, 0);
            } else if (rank == 3) {
              assertRefused(() -> objects.recv(1, 0), 1);
              assertThat(objects.<String>recv(1, 0)).isEqualTo("after");
            }
            assertInStep(group);
            return null;
          });
    }
  }

  @Test
  void anObjectTooDeepForTheStackIsRefused() {
    List<Object> deep = new ArrayList<>();
    for (int i = 0; i < 100_000; i++) {
      deep = new ArrayList<>(Collections.singletonList(deep));
    }
    List<Object> object = deep;
    ranks(
        2,
        group -> {
          assertThatThrownBy(() -> group.objects().broadcast(group.rank() == 0 ? object : null, 0))
              .isInstanceOf(ObjectSerializationException.class)
              .hasMessageContaining(
                  "rank 0 could not serialise its object of class java.util.ArrayList")
              .hasMessageContaining("StackOverflowError");
          assertInStep(group);
          return null;
        });
  }

  @Test
  void everyFailureOfAnAllGatherIsNamed() {
    ranks(
        3,
        group -> {
          Object mine = group.rank() == 0 ? "fine" : unserializable(group.rank() * 600);
          assertThatThrownBy(() -> group.objects().allGather(mine))
              .isInstanceOf(ObjectSerializationException.class)
              .satisfies(
                  first ->
                      assertThat(first.getMessage() + first.getSuppressed()[0].getMessage())
                          .contains("rank 1 could not serialise", "rank 2 could not serialise"));
          assertInStep(group);
          return null;
        });
  }

  @Test
  void theOtherRanksStackTraceIsTheCause() {
    ranks(
        2,
        group -> {
          if (group.rank() == 0) {
            assertRefused(() -> group.objects().send(unserializable(0), 1, 0), 0);
          } else {
            assertThatThrownBy(() -> group.objects().recv(0, 0))
                .cause()
                .isInstanceOf(RemoteCause.class)
                .hasMessageContaining("KryoObjectCodec.write");
          }
          return null;
        });
  }

  @Test
  void wrongArgumentsAreRefusedBeforeAnythingIsSent() {
    ranks(
        2,
        group -> {
          ObjectCollectives objects = group.objects();
          int rank = group.rank();
          List<ThrowingCallable> wrong =
              List.of(
                  () -> objects.broadcast("x", 2),
                  () -> objects.gather("x", -1),
                  () -> objects.scatter(List.of("x", "y"), 2),
                  () -> objects.scatter(List.of("x"), rank),
                  () -> objects.scatter(null, rank),
                  () -> objects.send("x", 2, 0),
                  () -> objects.send("x", rank, 0),
                  () -> objects.send("x", 1 - rank, -1),
                  () -> objects.recv(2, 0),
                  () -> objects.recv(1 - rank, -1));
          wrong.forEach(
              each -> assertThatThrownBy(each).isInstanceOf(IllegalArgumentException.class));
          assertInStep(group);
          return null;
        });
  }

  @Test
  void whatIsNoObjectIsRefused() {
    ranks(
        2,
        group -> {
          if (group.rank() == 0) {
            group.broadcast(Tensor.allocate(DType.INT8, 1024), 0).await();
          } else {
            assertThatThrownBy(() -> group.objects().broadcast(null, 0))
                .isInstanceOf(CollectiveMismatchException.class)
                .hasMessageContaining("no part of an object");
          }
          return null;
        });
  }

  @Test
  void anAbortWakesRanksInTheMiddleOfAnObject() {
    Function<ProcessGroup, Object> large = group -> bytes(30_000_000, group.rank());
    ranks(
        3,
        group -> {
          if (group.rank() == 2) {
            // All ranks are in the second frame of rank 0's object now, or will be.
            group
                .allGather(Tensor.allocate(DType.INT8, 3 * 1024), Tensor.allocate(DType.INT8, 1024))
                .await();
            group.abort(new IllegalStateException("enough"));
          } else {
            assertThatThrownBy(() -> group.objects().allGather(large.apply(group)))
                .isInstanceOf(PeerFailedException.class)
                .hasMessageContaining("enough");
            assertThatThrownBy(() -> group.objects().allGather("again"))
                .isInstanceOf(CollectiveException.class);
          }
          return null;
        });
  }

  @Test
  void aClosedGroupRefuses() {
    ranks(
        1,
        group -> {
          assertThat(group.objects().allGather("x")).isEqualTo(List.of("x"));
          assertThat(group.objects().gather("x", 0)).isEqualTo(List.of("x"));
          assertThat(group.objects().scatter(Collections.singletonList("x"), 0)).isEqualTo("x");
          group.close();
          assertThatThrownBy(() -> group.objects().broadcast("x", 0))
              .isInstanceOf(IllegalStateException.class);
          return null;
        });
  }

  /** One whose frames come in time each, but not all together. */
  static final class Slow implements KryoSerializable {
    static final Duration TIMEOUT = Duration.ofMillis(400);
    private static final long PAUSE_NANOS = TIMEOUT.toNanos() * 2 / 3;
    private static final int PIECES = 4;

    @Override
    public void write(Kryo kryo, Output output) {
      for (int i = 0; i < PIECES; i++) {
        // Each fills a frame, and the next makes it go.
        output.writeBytes(new byte[5_000_000]);
        LockSupport.parkNanos(PAUSE_NANOS);
      }
    }

    @Override
    public void read(Kryo kryo, Input input) {
      for (int i = 0; i < PIECES; i++) {
        input.readBytes(5_000_000);
      }
    }
  }

  @Test
  void theTimeoutBoundsTheWholeCall() {
    List<BiFunction<ObjectCollectives, Object, Object>> calls =
        List.of(
            (objects, mine) -> objects.broadcast(mine, 1),
            ObjectCollectives::allGather,
            (objects, mine) -> objects.gather(mine, 0),
            (objects, mine) -> objects.scatter(Arrays.asList("a", mine, bytes(5_000_000, 2)), 0));
    for (BiFunction<ObjectCollectives, Object, Object> call : calls) {
      ranks(
          3,
          group -> {
            boolean slow = calls.indexOf(call) == 3 ? group.rank() == 0 : group.rank() == 1;
            Object mine = slow ? new Slow() : bytes(5_000_000, group.rank());
            ObjectCollectives objects = group.withTimeout(Slow.TIMEOUT).objects();
            // Nobody begins before all are ready.
            group.barrier().await();
            assertThatThrownBy(() -> call.apply(objects, mine))
                .as("call %s on rank %s", calls.indexOf(call), group.rank())
                .isInstanceOf(CollectiveException.class)
                .hasMessageContaining("timed out after");
            return null;
          });
    }
  }
}
