package org.sparkcollectives;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.ObjectInputStream;
import java.io.Serializable;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.stream.IntStream;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Test;

/** Specifies objects that cannot be serialised, and calls that are refused. */
interface ObjectFailuresContract extends RanksUnderTest {

  private static void assertInStep(ProcessGroup group) {
    int[] one = {1};
    group.allReduce(Tensor.of(one), ReduceOp.SUM).await();
    assertThat(one[0]).isEqualTo(group.size());
    assertThat(group.objects().allGather(group.rank()))
        .isEqualTo(IntStream.range(0, group.size()).boxed().toList());
  }

  /** Returns an object that fails to be serialised after {@code before} bytes. */
  private static List<Object> unserializable(int before) {
    return Arrays.asList(Samples.bytes(before, 0), new Thread());
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
  default void aFailedSerializationIsToldToAllAndLeavesTheGroupInStep() {
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
  default void aFailedSerializationIsToldToTheRankThatWaitsForTheObject() {
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

  /** An object that every rank can write and none can read. */
  final class Unreadable implements Serializable {
    private static final long serialVersionUID = 1;

    private void readObject(ObjectInputStream stream) {
      throw new NullPointerException("of a user's class");
    }
  }

  @Test
  default void whatCannotBeReadIsNamedWithItsClassByTheRankThatReads() {
    for (Object object : List.of(new Unreadable(), Arrays.asList(1, new Unreadable()))) {
      ranks(
          2,
          group -> {
            if (group.rank() == 0) {
              group.objects().broadcast(object, 0);
            } else {
              assertThatThrownBy(() -> group.objects().broadcast(null, 0))
                  .isInstanceOf(ObjectSerializationException.class)
                  .hasMessageContaining(
                      "rank 1 could not read the object of class %s that rank 0 has sent",
                      object.getClass().getName())
                  .hasMessageContaining(Unreadable.class.getName())
                  .hasMessageContaining("of a user's class")
                  .hasMessageContaining("the group stays usable");
            }
            assertInStep(group);
            return null;
          });
    }
  }

  @Test
  default void aViewIsRefusedByTheRankThatSendsIt() {
    ranks(
        2,
        group -> {
          List<Integer> view = new ArrayList<>(List.of(1, 2, 3)).subList(0, 2);
          assertThatThrownBy(() -> group.objects().broadcast(group.rank() == 0 ? view : null, 0))
              .isInstanceOf(ObjectSerializationException.class)
              .hasMessageContaining("rank 0 could not serialise its object of class")
              .hasMessageContaining("java.util.ArrayList$SubList cannot be sent")
              .hasMessageContaining("Send a copy");
          assertInStep(group);
          return null;
        });
  }

  @Test
  default void anObjectTooDeepForTheStackIsRefused() {
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
  default void everyFailureOfAnAllGatherIsNamed() {
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
  default void theOtherRanksStackTraceIsTheCause() {
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
  default void wrongArgumentsAreRefusedBeforeAnythingIsSent() {
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
  default void whatIsNoObjectIsRefused() {
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
}
