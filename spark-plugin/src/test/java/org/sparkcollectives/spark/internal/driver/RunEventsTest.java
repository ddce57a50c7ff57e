package org.sparkcollectives.spark.internal.driver;

import static org.assertj.core.api.Assertions.assertThat;

import com.codahale.metrics.MetricRegistry;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.spark.scheduler.SparkListenerEvent;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.sparkcollectives.spark.event.QuorumFormed;
import org.sparkcollectives.spark.event.ReplicaPlace;
import org.sparkcollectives.spark.event.RunEnded;
import org.sparkcollectives.spark.internal.protocol.Quorum;
import org.sparkcollectives.spark.internal.protocol.QuorumRequest;
import org.sparkcollectives.spark.internal.protocol.RunRequest;
import org.sparkcollectives.spark.internal.protocol.StageAttempt;
import org.sparkcollectives.spark.internal.protocol.StateVersion;

/** Tests which events and figures the quorums of elastic stages become. */
class RunEventsTest {

  private final List<SparkListenerEvent> posted = new ArrayList<>();
  private final List<String> warnings = new ArrayList<>();
  private final Map<Long, RunRequest> tasks = new HashMap<>();
  private final MetricRegistry metrics = new MetricRegistry();
  private long now = 1000;
  private final RunEvents events = new RunEvents(() -> now, warnings::add, tasks::get);

  @BeforeEach
  void listen() {
    events.post(posted::add);
    events.register(metrics);
  }

  private static Quorum.Member member(int replica, long task, long quorum, long step) {
    StateVersion version = quorum == 0 ? StateVersion.NONE : new StateVersion(quorum, step);
    return new Quorum.Member(
        replica, task, new QuorumRequest("handle", "weights", version, false, List.of()));
  }

  private void began(int replica, long task, String executor) {
    tasks.put(
        task,
        new RunRequest("1", replica, new StageAttempt(3, 0), task, "host-" + executor, executor));
  }

  private Object gauge(String name) {
    return metrics.getGauges().get(name).getValue();
  }

  @Test
  void aQuorumIsAnEventWithThePlacesOfItsReplicasAndWhoHealsFromWhom() {
    began(0, 7, "1");
    began(1, 8, "2");
    began(2, 9, "3");
    events.formed(
        "1",
        new Quorum(
            4, List.of(member(0, 7, 0, 0), member(1, 8, 3, 500), member(2, 9, 3, 499)), null),
        false);
    assertThat(posted)
        .containsExactly(
            new QuorumFormed(
                1,
                1000,
                4,
                500,
                false,
                0,
                2,
                3,
                List.of(
                    new ReplicaPlace(0, 7, "host-1", "1", 1),
                    new ReplicaPlace(1, 8, "host-2", "2", 1),
                    new ReplicaPlace(2, 9, "host-3", "3", 1))));
  }

  @Test
  void attemptsLostAndStatesReceivedAreCountedForTheRunAndForAll() {
    began(0, 7, "1");
    began(1, 8, "2");
    Quorum both = new Quorum(1, List.of(member(0, 7, 1, 5), member(1, 8, 1, 5)), null);
    events.formed("1", both, true);
    events.formed("1", both, false);
    QuorumFormed second = (QuorumFormed) posted.get(1);
    assertThat(second.lost()).isEqualTo(1);
    assertThat(second.healed()).isZero();
    assertThat(gauge("quorums")).isEqualTo(2L);
    assertThat(gauge("steps.lost")).isEqualTo(1L);
    assertThat(gauge("replicas.healed")).isEqualTo(0L);
    assertThat(gauge("replicas")).isEqualTo(2);
    events.ended("1", "boom");
    assertThat(posted.get(2)).isEqualTo(new RunEnded(1, 1000, "boom"));
    assertThat(gauge("replicas")).isEqualTo(0);
    assertThat(gauge("steps.lost")).as("counts all runs").isEqualTo(1L);
  }

  @Test
  void quorumsThatAreFormedAllTheTimeAreCountedButNotAllPosted() {
    began(0, 7, "1");
    Quorum alone = new Quorum(1, List.of(member(0, 7, 1, 5)), null);
    for (int i = 0; i < 2 * RunEvents.QUORUMS_AT_ONCE; i++) {
      events.formed("1", alone, true);
    }
    assertThat(posted).hasSize(RunEvents.QUORUMS_AT_ONCE);
    now += 1000;
    events.formed("1", alone, true);
    assertThat(((QuorumFormed) posted.get(posted.size() - 1)).lost())
        .isEqualTo(2 * RunEvents.QUORUMS_AT_ONCE + 1);
  }

  @Test
  void replicasThatOneLossWouldTakeAreWarnedOfOnceAsLongAsTheyAre() {
    began(0, 7, "1");
    began(1, 8, "1");
    began(2, 9, "2");
    Quorum together = new Quorum(1, List.of(member(0, 7, 1, 5), member(1, 8, 1, 5)), null);
    Quorum apart = new Quorum(2, List.of(member(0, 7, 1, 5), member(2, 9, 1, 5)), null);
    events.formed("1", apart, false);
    assertThat(warnings).isEmpty();
    events.formed("1", together, false);
    events.formed("1", together, false);
    assertThat(warnings)
        .singleElement()
        .asString()
        .contains("All 2 replicas of run 1 are on executor 1 of host-1");
    events.formed("1", apart, false);
    events.formed("1", together, false);
    assertThat(warnings).hasSize(2);
  }
}
