package org.sparkcollectives.spi;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.List;
import org.junit.jupiter.api.Test;
import org.sparkcollectives.CollectiveException;
import org.sparkcollectives.ProcessGroup;
import org.sparkcollectives.testing.GroupRuns;
import org.sparkcollectives.testing.Paths;

/** Tests that all ranks go on or all throw, with the same reason. */
class CallCheckTest {

  private static void ranks(GroupRuns.Body<Void> body) {
    GroupRuns.run(3, Paths.HEAP, body);
  }

  private static void compare(ProcessGroup group, String... texts) {
    new CallCheck(group, "averaging").compare(() -> List.of(texts));
  }

  @Test
  void equalTextsLetAllGoOnWithOneOperation() {
    ranks(
        group -> {
          compare(group, "a", "b");
          compare(group);
          assertThat(group.barrier().sequenceNumber()).isEqualTo(2);
          return null;
        });
  }

  @Test
  void theFirstDifferenceIsNamedOnAllRanks() {
    ranks(
        group -> {
          assertThatThrownBy(() -> compare(group, "a", "b" + group.rank() / 2, "c" + group.rank()))
              .isInstanceOf(IllegalArgumentException.class)
              .hasMessageStartingWith("averaging of group \"" + group.name() + "\" on rank ")
              .hasMessageContaining("rank 0 gives c0, and rank 1 gives c1");
          assertThatThrownBy(
                  () -> compare(group, group.rank() == 2 ? new String[] {"a"} : new String[0]))
              .hasMessageContaining("rank 0 gives nothing more, and rank 2 gives a");
          assertThatThrownBy(() -> new CallCheck(group, "call " + group.rank()).byAll(() -> {}))
              .hasMessageContaining("rank 0 gives call 0, and rank 1 gives call 1");
          compare(group, "again");
          return null;
        });
  }

  @Test
  void aRefusalIsThrownOnAllRanks() {
    ranks(
        group -> {
          assertThatThrownBy(
                  () ->
                      byRank(
                          group,
                          null,
                          new IllegalArgumentException("no such state"),
                          new IllegalStateException("closed")))
              .isInstanceOf(
                  group.rank() == 2 ? IllegalStateException.class : IllegalArgumentException.class)
              .hasMessage(
                  "restore of group \""
                      + group.name()
                      + "\" on rank "
                      + group.rank()
                      + " of 3: "
                      + switch (group.rank()) {
                        case 0 -> "rank 1 refused its arguments: no such state";
                        case 1 -> "no such state";
                        default -> "closed";
                      });
          assertThatThrownBy(() -> byRank(group, null, null, new NullPointerException("options")))
              .isInstanceOf(IllegalArgumentException.class)
              .hasMessageEndingWith("NullPointerException: options")
              .hasMessageContaining(group.rank() == 2 ? "" : "rank 2 refused its arguments: ");
          compare(group, "again");
          return null;
        });
  }

  @Test
  void aRefusalIsNamedRatherThanTheFailureOfALowerRank() {
    ranks(
        group -> {
          assertThatThrownBy(
                  () ->
                      byRank(
                          group,
                          new IllegalStateException("closed"),
                          null,
                          new IllegalArgumentException("no such state")))
              .hasMessageContaining(
                  switch (group.rank()) {
                    case 0 -> "closed";
                    case 1 -> "rank 2 refused its arguments: no such state";
                    default -> "no such state";
                  });
          return null;
        });
  }

  @Test
  void theBeginningOfAMessageIsNotRepeated() {
    ranks(
        group -> {
          String where =
              "restore of group \"" + group.name() + "\" on rank " + group.rank() + " of 3";
          assertThatThrownBy(
                  () ->
                      byRank(
                          group,
                          null,
                          new IllegalArgumentException(where + ": no such state"),
                          null))
              .hasMessage(
                  where
                      + ": "
                      + (group.rank() == 1 ? "" : "rank 1 refused its arguments: ")
                      + "no such state");
          return null;
        });
  }

  @Test
  void whateverARankThrowsIsToldToAllRanks() {
    ranks(
        group -> {
          assertThatThrownBy(
                  () ->
                      byRank(
                          group,
                          null,
                          new OutOfMemoryError("no room"),
                          new UnsupportedOperationException("not here")))
              .isInstanceOf(
                  group.rank() == 0 ? CollectiveException.class : IllegalStateException.class)
              .hasMessageContaining(
                  switch (group.rank()) {
                    case 0 -> "rank 1 cannot take part: java.lang.OutOfMemoryError: no room";
                    case 1 -> "OutOfMemoryError: no room";
                    default -> "not here";
                  });
          compare(group, "again");
          return null;
        });
  }

  @Test
  void failuresOfCollectivesAndErrorsAreThrownAsTheyAreWhereTheyArise() {
    ranks(
        group -> {
          Throwable failure = new CollectiveException("another group has failed");
          Throwable error = new NoClassDefFoundError("Engine");
          assertThatThrownBy(() -> byRank(group, failure, error, null))
              .satisfies(
                  thrown -> {
                    switch (group.rank()) {
                      case 0 -> assertThat(thrown).isSameAs(failure);
                      case 1 -> assertThat(thrown).isSameAs(error);
                      default ->
                          assertThat(thrown)
                              .isInstanceOf(CollectiveException.class)
                              .hasMessageContaining("rank 0 cannot take part")
                              .hasMessageContaining("another group has failed");
                    }
                  });
          compare(group, "again");
          return null;
        });
  }

  @Test
  void theReasonOfARankIsKeptWhereItCannotTellTheOthers() {
    ranks(
        group -> {
          group.abort(new IllegalStateException("enough"));
          Throwable own = new IllegalArgumentException("no such state");
          assertThatThrownBy(() -> byRank(group, own, own, own))
              .isInstanceOf(CollectiveException.class)
              .satisfies(thrown -> assertThat(thrown.getSuppressed()).containsExactly(own));
          return null;
        });
  }

  /** Runs a step on all ranks, which throws what is given for the rank. */
  private static void byRank(ProcessGroup group, Throwable... thrown) {
    new CallCheck(group, "restore")
        .byAll(
            () -> {
              Throwable own = thrown[group.rank()];
              if (own instanceof Error error) {
                throw error;
              }
              if (own != null) {
                throw (RuntimeException) own;
              }
            });
  }
}
