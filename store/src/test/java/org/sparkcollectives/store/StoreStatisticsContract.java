package org.sparkcollectives.store;

import static org.assertj.core.api.Assertions.assertThat;
import static org.sparkcollectives.store.StoreUnderTest.bytes;
import static org.sparkcollectives.store.StoreUnderTest.timeoutOf;

import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.sparkcollectives.testing.Eventually;

/** The contract of what a handle counts of its calls. */
interface StoreStatisticsContract extends StoreUnderTest {

  @Test
  default void aPingTakesARoundTrip() {
    assertThat(store().ping()).isPositive().isLessThan(Eventually.LIMIT);
    assertThat(store().withPrefix("p").ping()).isPositive();
    StoreStatistics.Calls checks = store().statistics().of("check");
    assertThat(checks.count()).isEqualTo(2);
    assertThat(checks.seconds()).isPositive();
  }

  @Test
  default void callsAreCountedByMethodThoseOfViewsToo() {
    StoreStatistics before = store().statistics();
    store().set("k", bytes("v"));
    store().multiSet(List.of("a", "b"), List.of(bytes("1"), bytes("2")));
    store().withPrefix("p").withTimeout(Duration.ofSeconds(9)).set("k", bytes("v"));
    Deadline.after(Duration.ofSeconds(9)).bound(store()).get("k");
    StoreLease.of(store()).store().get("p/k");
    timeoutOf(() -> store().withTimeout(SHORT).get("missing"));

    StoreStatistics after = store().withPrefix("p").statistics();

    assertThat(after.of("set").count() - before.of("set").count()).isEqualTo(3);
    StoreStatistics.Calls gets = after.of("get");
    assertThat(gets.count() - before.of("get").count()).isEqualTo(3);
    assertThat(gets.failures()).isEqualTo(1);
    assertThat(gets.longestSeconds()).isGreaterThanOrEqualTo(SHORT.toNanos() / 1e9);
    assertThat(gets.seconds()).isGreaterThanOrEqualTo(gets.longestSeconds());
    assertThat(gets.meanSeconds()).isBetween(0.0, gets.longestSeconds());
    assertThat(after.of("add")).isEqualTo(new StoreStatistics.Calls("add", 0, 0, 0, 0));
    assertThat(store().statistics()).isEqualTo(after);
  }
}
