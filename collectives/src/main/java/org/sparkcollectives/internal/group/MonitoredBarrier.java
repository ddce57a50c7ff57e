package org.sparkcollectives.internal.group;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.stream.IntStream;
import org.sparkcollectives.CollectiveException;
import org.sparkcollectives.CollectiveTimeoutException;
import org.sparkcollectives.internal.rendezvous.Membership;
import org.sparkcollectives.store.Deadline;
import org.sparkcollectives.store.Store;
import org.sparkcollectives.store.StoreTimeoutException;

/**
 * A barrier in which rank 0 waits for all and publishes in the store which ranks did not come.
 *
 * <p>Each call has keys of its own, by a number that each rank counts; the last to leave removes
 * them.
 */
final class MonitoredBarrier {

  /** The time that the others wait longer than rank 0, for its answer. */
  private static final Duration GRACE = Duration.ofSeconds(5);

  private static final String VERDICT = "verdict";

  private final Membership members;
  private final Store store;
  private final long number;

  /** Creates the {@code number}-th barrier of a group, with the group's keys. */
  MonitoredBarrier(Membership members, Store groupStore, long number) {
    this.members = members;
    this.store = groupStore.withPrefix("monitored-barrier/" + number);
    this.number = number;
  }

  /** Waits for {@code atMost}, or for the store's timeout if that is less. */
  void await(Duration atMost, boolean waitAllRanks) {
    Duration timeout = Deadline.smaller(atMost, store.timeout());
    boolean first = members.rank() == 0;
    Store bounded = Deadline.after(first ? timeout : timeout.plus(GRACE)).bound(patient(timeout));
    List<Integer> missing = first ? gather(bounded, timeout, waitAllRanks) : askRankZero(bounded);
    if (bounded.add("left", 1) == members.size()) {
      bounded.deleteKeys(bounded.listKeys());
    }
    if (!missing.isEmpty()) {
      throw timedOut(timeout, missing);
    }
  }

  /** Returns a view of the store for the ranks that wait longer than rank 0. */
  private Store patient(Duration timeout) {
    return store.withTimeout(timeout.plus(GRACE));
  }

  private static String key(int rank) {
    return "rank-" + rank;
  }

  private List<Integer> gather(Store bounded, Duration timeout, boolean waitAllRanks) {
    List<Integer> missing = new ArrayList<>();
    try {
      bounded.waitFor(
          IntStream.range(1, members.size()).mapToObj(MonitoredBarrier::key).toList(), timeout);
    } catch (StoreTimeoutException e) {
      for (int rank = 1; rank < members.size(); rank++) {
        boolean named = missing.isEmpty() || waitAllRanks;
        if (named && e.missingKeys().contains(key(rank))) {
          missing.add(rank);
        }
      }
    }
    bounded.set(
        VERDICT,
        String.join(",", missing.stream().map(String::valueOf).toList())
            .getBytes(StandardCharsets.UTF_8));
    return missing;
  }

  private List<Integer> askRankZero(Store bounded) {
    bounded.set(key(members.rank()), new byte[0]);
    byte[] verdict;
    try {
      verdict = bounded.get(VERDICT);
    } catch (StoreTimeoutException e) {
      return List.of(0);
    }
    return ranks(new String(verdict, StandardCharsets.UTF_8));
  }

  /** Returns the ranks that rank 0 names. */
  private List<Integer> ranks(String verdict) {
    try {
      List<Integer> ranks =
          verdict.isEmpty()
              ? List.of()
              : Arrays.stream(verdict.split(",", -1)).map(Integer::valueOf).toList();
      ranks.forEach(rank -> Objects.checkIndex(rank, members.size()));
      return ranks;
    } catch (NumberFormatException | IndexOutOfBoundsException e) {
      throw new CollectiveException(
          "monitored-barrier #"
              + number
              + " of "
              + members.identity().where()
              + " failed: what rank 0 says of the "
              + members.size()
              + " ranks in the store is no list of them: "
              + e.getMessage(),
          e);
    }
  }

  private CollectiveTimeoutException timedOut(Duration timeout, List<Integer> missing) {
    return new CollectiveTimeoutException(
        "monitored-barrier #"
            + number
            + " of "
            + members.identity().where()
            + " timed out after "
            + timeout.toMillis() / 1000.0
            + " s: "
            + String.join(", ", missing.stream().map(members.places()::get).toList())
            + (missing.size() == 1 ? " has" : " have")
            + " not arrived",
        "monitored-barrier",
        number,
        missing);
  }
}
