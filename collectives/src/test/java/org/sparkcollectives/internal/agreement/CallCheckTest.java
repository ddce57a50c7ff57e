package org.sparkcollectives.internal.agreement;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.List;
import org.junit.jupiter.api.Test;
import org.sparkcollectives.CollectiveException;
import org.sparkcollectives.CollectiveMismatchException;
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
              .isInstanceOf(CollectiveMismatchException.class)
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
  void aRefusalIsToldToAllRanks() {
    ranks(
        group -> {
          CallCheck check = new CallCheck(group, "restore");
          assertThatThrownBy(
                  () ->
                      check.byAll(
                          () -> {
                            if (group.rank() == 1) {
                              throw new IllegalArgumentException("no such state");
                            }
                            if (group.rank() == 2) {
                              throw new IllegalStateException("closed");
                            }
                          }))
              .isInstanceOf(
                  switch (group.rank()) {
                    case 0 -> CollectiveException.class;
                    case 1 -> IllegalArgumentException.class;
                    default -> IllegalStateException.class;
                  })
              .hasMessageContaining("restore of group")
              .hasMessageContaining(
                  switch (group.rank()) {
                    case 0 -> "rank 1 cannot take part: no such state";
                    case 1 -> "no such state";
                    default -> "closed";
                  });
          check.byAll(() -> {});
          return null;
        });
  }

  @Test
  void whateverARankThrowsIsToldToAllRanks() {
    ranks(
        group -> {
          CallCheck check = new CallCheck(group, "restore");
          assertThatThrownBy(
                  () ->
                      check.byAll(
                          () -> {
                            if (group.rank() == 1) {
                              throw new OutOfMemoryError("no room");
                            }
                            if (group.rank() == 2) {
                              throw new UnsupportedOperationException("not here");
                            }
                          }))
              .isInstanceOf(
                  group.rank() == 0 ? CollectiveException.class : IllegalStateException.class)
              .hasMessageContaining(group.rank() == 2 ? "not here" : "OutOfMemoryError: no room");
          compare(group, "again");
          return null;
        });
  }
}
