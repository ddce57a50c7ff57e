package org.sparkcollectives.spark.internal.driver;

import static org.assertj.core.api.Assertions.assertThat;

import org.apache.spark.Success$;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.sparkcollectives.Failure.Kind;

/** Tests after which failures a job is worth another attempt. */
class JobFailuresTest {

  @ParameterizedTest
  @EnumSource(names = {"EXECUTOR_LOST", "UNRESPONSIVE", "CONNECTION_RESET"})
  void aProcessOrConnectionThatIsLostMayNotBeLostTheNextTime(Kind kind) {
    assertThat(JobFailures.canBeMended(kind)).isTrue();
  }

  @ParameterizedTest
  @EnumSource(names = {"EXCEPTION", "KILLED", "PEER_FINISHED", "TIMEOUT", "STAGE_STOPPED"})
  void whatTheProgramDoesItDoesAgain(Kind kind) {
    assertThat(JobFailures.canBeMended(kind)).isFalse();
  }

  @Test
  void aJobOfWhichNoTaskFailedIsNotTriedAgain() {
    assertThat(TaskEnds.kind(Success$.MODULE$)).isNull();
    assertThat(JobFailures.canBeMended(null)).isFalse();
  }
}
