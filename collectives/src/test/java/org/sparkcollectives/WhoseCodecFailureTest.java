package org.sparkcollectives;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.function.Supplier;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.sparkcollectives.object.ObjectCodec;
import org.sparkcollectives.store.HashStore;

/** Tests whose failure it is when a codec of objects throws. */
class WhoseCodecFailureTest extends FaultyRankContract {

  private static Throwable withCausesInACircle() {
    Throwable thrown = new IllegalStateException("of a codec");
    thrown.initCause(new IllegalStateException("which it causes itself", thrown));
    return thrown;
  }

  /** Returns an object for each rank, of which that for {@code to} is the faulty one. */
  private static List<String> objects(int to) {
    List<String> objects = new ArrayList<>(Collections.nCopies(SIZE, "sound"));
    objects.set(to, FaultyCodec.FAULTY);
    return objects;
  }

  /** The group goes on, so only those are told for whom the object was. */
  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void theRankWhoseCodecThrowsIsNamedByAllThatMissAnObjectForIt(boolean writes) {
    List<Supplier<Throwable>> faults =
        List.of(
            WhoseCodecFailureTest::withCausesInACircle,
            () -> new IOException("of a codec"),
            () -> new AssertionError("of a codec"),
            () -> new StackOverflowError("of a codec"));
    int[] places = {0, SMALL, 1_000, 5_000_000};
    try (HashStore store = new HashStore()) {
      for (int i = 0; i < places.length; i++) {
        int after = places[i];
        Supplier<Throwable> fault = faults.get(i);
        ObjectCodec sound = new FaultyCodec(writes, after, null);
        ObjectCodec faulty = new FaultyCodec(writes, after, fault);
        int from = writes ? GUILTY : 2;
        int to = writes ? 2 : GUILTY;
        List<Throwable> failures =
            failures(
                store,
                rank -> FaultyCodec.host(context(rank), rank == GUILTY ? faulty : sound),
                group -> {
                  String object = group.rank() == from ? FaultyCodec.FAULTY : "sound";
                  ObjectCollectives objects = group.objects();
                  boolean told = writes || group.rank() == GUILTY;
                  boolean toldByOne = told && (group.rank() == from || group.rank() == to);
                  assertCodecNamed(told, fault, () -> objects.broadcast(object, from));
                  assertCodecNamed(told, fault, () -> objects.allGather(object));
                  assertCodecNamed(toldByOne, fault, () -> objects.gather(object, to));
                  assertCodecNamed(toldByOne, fault, () -> objects.scatter(objects(to), from));
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

  /** An Error that the process may not survive ends the group: others wait for the object. */
  @ParameterizedTest
  @ValueSource(booleans = {true, false})
  void aRankWithoutMemoryForItsCodecIsNamedByAll(boolean writes) {
    Supplier<Throwable> fault = () -> new OutOfMemoryError("of a codec");
    try (HashStore store = new HashStore()) {
      for (int after : new int[] {0, 5_000_000}) {
        ObjectCodec sound = new FaultyCodec(writes, after, null);
        ObjectCodec faulty = new FaultyCodec(writes, after, fault);
        List<Throwable> failures =
            failures(
                store,
                rank -> FaultyCodec.host(context(rank), rank == GUILTY ? faulty : sound),
                group -> {
                  Runnable call =
                      () -> group.objects().broadcast(FaultyCodec.FAULTY, writes ? GUILTY : 2);
                  if (group.rank() == GUILTY) {
                    assertThatThrownBy(call::run).isInstanceOf(OutOfMemoryError.class);
                  } else {
                    call.run();
                  }
                  group.barrier().await();
                });
        for (int rank = 0; rank < SIZE; rank++) {
          assertThat(failures.get(rank))
              .as("rank %s, after %s bytes", rank, after)
              .isInstanceOf(
                  rank == GUILTY ? GroupAbortedException.class : PeerFailedException.class)
              .hasMessageContaining(fault.get().toString())
              .hasMessageContaining("rank " + GUILTY);
        }
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
}
