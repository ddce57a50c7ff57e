package org.sparkcollectives.spark.internal.driver;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.sparkcollectives.spark.internal.protocol.StageAttempt;
import org.sparkcollectives.store.StoreSession;
import org.sparkcollectives.store.StoreTable;
import org.sparkcollectives.store.StoredValue;

/** Tests when the checkpoints of a call are removed. */
class CheckpointScopesTest {

  private final StoreTable table = new StoreTable();
  private final CheckpointScopes scopes = new CheckpointScopes(table);

  @AfterEach
  void close() {
    table.close();
  }

  private void use(String scope, int stage, int attempt) {
    scopes
        .open(scope, new StageAttempt(stage, attempt), prefix -> new StoreSession(table, prefix))
        .close();
    table.set(List.of("checkpoints-" + scope + "/key"), List.of(StoredValue.of(new byte[1])));
  }

  private boolean has(String scope) {
    return table.count("checkpoints-" + scope + "/") > 0;
  }

  @Test
  void aCallsCheckpointsOutliveAttemptsAndFailedJobsAndGoWithTheJobThatSucceeds() {
    assertThat(CheckpointScopes.scope("call", new StageAttempt(7, 0))).isEqualTo("call");
    scopes.jobStarted(1, List.of(2, 3));
    use("call", 3, 0);
    use("call", 3, 1);
    scopes.jobEnded(1, false);
    assertThat(has("call")).isTrue();
    scopes.jobStarted(2, List.of(4, 5));
    use("call", 5, 0);
    scopes.jobStarted(3, List.of(6));
    scopes.jobEnded(3, true);
    assertThat(has("call")).as("another job has ended").isTrue();
    scopes.jobEnded(2, true);
    assertThat(has("call")).isFalse();
  }

  @Test
  void aStagesOwnGoWithItsJobHoweverThatEnds() {
    for (boolean succeeded : new boolean[] {true, false}) {
      String scope = CheckpointScopes.scope("", new StageAttempt(3, 1));
      assertThat(scope).isEqualTo(CheckpointScopes.scope("", new StageAttempt(3, 0)));
      scopes.jobStarted(1, List.of(3));
      use(scope, 3, 0);
      scopes.jobEnded(1, succeeded);
      assertThat(has(scope)).isFalse();
    }
  }

  @Test
  void aCallThatIsNotTriedAgainLeavesNothingWhenItsJobFails() {
    scopes.jobStarted(1, List.of(3));
    use("call", 3, 0);
    scopes.release("call");
    assertThat(has("call")).as("its tasks may still be about to end").isTrue();
    scopes.jobEnded(1, false);
    assertThat(has("call")).isFalse();

    scopes.jobStarted(2, List.of(4));
    use("other", 4, 0);
    scopes.jobEnded(2, false);
    assertThat(has("other")).isTrue();
    scopes.release("other");
    assertThat(has("other")).isFalse();
    scopes.release("none");
  }

  @Test
  void whoBeganEarlierIsRefusedOnceALaterOneHasCome() {
    use("call", 3, 1);
    assertThatThrownBy(() -> use("call", 3, 0))
        .isInstanceOf(IllegalStateException.class)
        .hasMessage("The checkpoints are in use by stage 3.1, which began after stage 3.0");
    use("call", 5, 0);
    assertThatThrownBy(() -> use("call", 3, 1)).isInstanceOf(IllegalStateException.class);
    use("other", 3, 0);
  }

  @Test
  void ofCallsWhoseJobHasFailedTheLastFewKeepTheirs() {
    int calls = CheckpointScopes.KEPT_AFTER_FAILURE + 2;
    for (int i = 0; i < calls; i++) {
      scopes.jobStarted(i, List.of(i));
      use("call-" + i, i, 0);
      if (i == 2) {
        // The job is tried again, so its scope is not idle.
        use("call-0", 100, 0);
      }
      scopes.jobEnded(i, false);
    }
    assertThat(has("call-0")).isTrue();
    assertThat(has("call-1")).isFalse();
    for (int i = 2; i < calls; i++) {
      assertThat(has("call-" + i)).as("call %d", i).isTrue();
    }
  }
}
