package org.sparkcollectives;

import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.sparkcollectives.Failure.Kind;

/** Tests which of two records of a failure tells more about the first cause. */
class FailureTest {

  private static Failure of(Kind kind, int rank) {
    return new Failure(
        kind, new RankLocation(rank, "127.0.0.1", "executor", -1), "barrier", 3, "something");
  }

  @Test
  void whatARankThrewOutranksThatItsConnectionsBroke() {
    assertThat(of(Kind.EXCEPTION, 1).outranks(of(Kind.CONNECTION_RESET, 2))).isTrue();
    assertThat(of(Kind.CONNECTION_RESET, 2).outranks(of(Kind.EXCEPTION, 1))).isFalse();
  }

  @ParameterizedTest
  @EnumSource(Kind.class)
  void ofTwoThatTellTheSameTheFirstStays(Kind kind) {
    assertThat(of(kind, 1).outranks(of(kind, 2))).isFalse();
  }

  @Test
  void whoLetsGoOfItsConnectionsAfterADeadlineIsNotTheCause() {
    assertThat(of(Kind.CONNECTION_RESET, 1).outranks(of(Kind.TIMEOUT, 2))).isFalse();
    assertThat(of(Kind.CONNECTION_RESET, 2).outranks(of(Kind.TIMEOUT, 2))).isTrue();
  }

  @Test
  void whoLeavesAfterAnotherWasLostIsNotTheCause() {
    assertThat(of(Kind.PEER_FINISHED, 1).outranks(of(Kind.CONNECTION_RESET, 2))).isFalse();
    assertThat(of(Kind.PEER_FINISHED, 2).outranks(of(Kind.CONNECTION_RESET, 2))).isTrue();
  }
}
