package org.sparkcollectives.join;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.sparkcollectives.CollectiveException;
import org.sparkcollectives.ProcessGroup;
import org.sparkcollectives.testing.GroupRuns;
import org.sparkcollectives.testing.LeakCheck;
import org.sparkcollectives.testing.Paths;

/** Tests how a join ends early: together on all ranks, whatever the reason is. */
@ExtendWith(LeakCheck.class)
class JoinEndsTest {

  private static final JoinOptions OPTIONS = new JoinOptions();

  private static <T> List<T> ranks(int size, GroupRuns.Body<T> body) {
    return GroupRuns.run(size, Paths.HEAP, body);
  }

  private static Void steps(AveragedSlope model, int count) {
    for (int step = 0; step < count; step++) {
      model.step((model.processGroup().rank() + 1.0) * (step + 1));
    }
    return null;
  }

  private static AveragedSlope join(ProcessGroup group, JoinOptions options, int count)
      throws Exception {
    AveragedSlope model = new AveragedSlope(group);
    Join.run(options, List.of(model), () -> steps(model, count));
    return model;
  }

  @Test
  void anEarlyEndIsThrownOnAllRanksAfterEqualStepsAndTheGroupGoesOn() {
    int[] lengths = {2, 5, 3};
    List<Integer> done =
        ranks(
            3,
            group -> {
              AveragedSlope model = new AveragedSlope(group);
              assertThatThrownBy(
                      () ->
                          Join.run(
                              OPTIONS.withThrowOnEarlyTermination(true),
                              List.of(model),
                              () -> steps(model, lengths[group.rank()])))
                  .isInstanceOf(EarlyTerminationException.class)
                  .hasMessageContaining("on rank " + group.rank() + " of 3")
                  .hasMessageContaining(
                      group.rank() == 0
                          ? "this rank has run out of rows and 2 others have not"
                          : "3 ranks began, of which 2 still have rows");
              assertThat(group.isFailed()).isFalse();
              assertThat(join(group, OPTIONS, group.rank()).parameters()).hasSize(group.rank());
              return model.gradients().size();
            });
    assertThat(done).containsExactly(2, 2, 2);
  }

  @Test
  void anEarlyEndThatTheBodySwallowsIsThrownAllTheSame() {
    ranks(
        2,
        group -> {
          AveragedSlope model = new AveragedSlope(group);
          assertThatThrownBy(
                  () ->
                      Join.run(
                          OPTIONS.withThrowOnEarlyTermination(true),
                          List.of(model),
                          () -> {
                            try {
                              return steps(model, group.rank());
                            } catch (EarlyTerminationException e) {
                              return null;
                            }
                          }))
              .isInstanceOf(EarlyTerminationException.class);
          group.barrier().await();
          return null;
        });
  }

  @Test
  void equalLengthsEndWithoutAnEarlyEnd() {
    assertThat(
            ranks(3, group -> join(group, OPTIONS.withThrowOnEarlyTermination(true), 2).shadowed()))
        .containsOnly(0);
  }

  @ParameterizedTest
  @EnumSource(names = {"HEAP", "SHM", "TCP", "MIXED"})
  void anExceptionOfTheBodyAbortsTheGroupWithItAsCause(Paths paths) {
    GroupRuns.run(
        3,
        paths,
        group -> {
          AveragedSlope model = new AveragedSlope(group);
          assertThatThrownBy(
                  () ->
                      Join.run(
                          OPTIONS,
                          List.of(model),
                          () -> {
                            steps(model, group.rank());
                            if (group.rank() == 1) {
                              throw new IllegalStateException("a bad row");
                            }
                            return steps(model, 100);
                          }))
              .isInstanceOf(
                  group.rank() == 1 ? IllegalStateException.class : CollectiveException.class)
              .hasMessageContaining("a bad row");
          assertThat(group.isFailed()).isTrue();
          assertThat(Join.notifyStep(model)).as("after the join").isEmpty();
          return null;
        });
  }

  @ParameterizedTest
  @EnumSource(names = {"HEAP", "SHM", "TCP"})
  void aRankThatIsGoneEndsTheJoinOfTheOthers(Paths paths) {
    GroupRuns.run(
        3,
        paths,
        group -> {
          AveragedSlope model = new AveragedSlope(group);
          assertThatThrownBy(
                  () ->
                      Join.run(
                          OPTIONS,
                          List.of(model),
                          () -> {
                            steps(model, 2 * group.rank());
                            if (group.rank() == 1) {
                              group.close();
                              throw new IllegalStateException("gone");
                            }
                            return null;
                          }))
              .isInstanceOf(
                  group.rank() == 1 ? IllegalStateException.class : CollectiveException.class)
              .hasMessageContaining(group.rank() == 1 ? "gone" : "rank 1");
          return null;
        });
  }

  @Test
  void anExceptionOfAHookAbortsTheGroupToo() {
    ranks(
        2,
        group -> {
          Joinable failing =
              new Joinable() {
                @Override
                public ProcessGroup processGroup() {
                  return group;
                }

                @Override
                public JoinHook joinHook(JoinOptions options) {
                  return new JoinHook() {
                    @Override
                    public void shadowStep(JoinStep step) {
                      throw new IllegalStateException("no shadow");
                    }

                    @Override
                    public void afterAllJoined(int lastJoiner) {}
                  };
                }
              };
          assertThatThrownBy(
                  () ->
                      Join.run(
                          OPTIONS,
                          List.of(failing),
                          () -> {
                            while (group.rank() == 1) {
                              Join.notifyStep(failing).orElseThrow().activeRanks();
                            }
                            return null;
                          }))
              .hasMessageContaining("no shadow");
          return null;
        });
  }

  @Test
  void aBodyThatGoesOnAfterAnEarlyEndGetsItAgain() {
    ranks(
        2,
        group -> {
          AveragedSlope model = new AveragedSlope(group);
          List<EarlyTerminationException> skipped = new ArrayList<>();
          assertThatThrownBy(
                  () ->
                      Join.run(
                          OPTIONS.withThrowOnEarlyTermination(true),
                          List.of(model),
                          () -> {
                            for (int i = 0; i < 3 * group.rank(); i++) {
                              try {
                                steps(model, 1);
                              } catch (EarlyTerminationException e) {
                                skipped.add(e); // As a loop that skips bad rows does.
                              }
                            }
                            return null;
                          }))
              .isInstanceOf(EarlyTerminationException.class);
          assertThat(skipped).hasSize(3 * group.rank());
          group.barrier().await();
          return null;
        });
  }
}
