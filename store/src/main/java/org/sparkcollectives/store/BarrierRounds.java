package org.sparkcollectives.store;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Predicate;
import org.sparkcollectives.config.TimeString;

/**
 * The barriers of a table; each is a round that gathers callers. Guarded by the table's lock.
 *
 * <p>A round disappears when it is full or when its last caller has given up. So a key can be used
 * again at once, even with another world size.
 */
final class BarrierRounds {

  private final Object lock;
  private final Map<String, Round> rounds = new HashMap<>();

  BarrierRounds(Object lock) {
    this.lock = lock;
  }

  StoreWaiter<Void> arrive(String key, int worldSize, Wakeups wakeups) {
    Round round = rounds.computeIfAbsent(key, k -> new Round(k, worldSize));
    if (round.worldSize != worldSize) {
      throw new StoreException(
          "barrier "
              + KeyText.quote(key)
              + ": this caller expects a world of "
              + worldSize
              + ", the "
              + round.arrived.size()
              + " that wait there expect "
              + round.worldSize);
    }
    Arrival arrival = new Arrival(round);
    round.arrived.add(arrival);
    if (round.arrived.size() == worldSize) {
      rounds.remove(key);
      round.arrived.forEach(waiter -> wakeups.grant(waiter, null));
    }
    return arrival;
  }

  /** Takes all waiters for which {@code condition} holds. */
  Collection<StoreWaiter<?>> takeIf(Predicate<StoreWaiter<?>> condition) {
    List<StoreWaiter<?>> taken = new ArrayList<>();
    for (Round round : rounds.values()) {
      round.arrived.removeIf(arrival -> condition.test(arrival) && taken.add(arrival));
    }
    rounds.values().removeIf(round -> round.arrived.isEmpty());
    return taken;
  }

  int count() {
    return rounds.values().stream().mapToInt(round -> round.arrived.size()).sum();
  }

  private static final class Round {

    final String key;
    final int worldSize;
    final Set<Arrival> arrived = new LinkedHashSet<>();

    Round(String key, int worldSize) {
      this.key = key;
      this.worldSize = worldSize;
    }
  }

  private final class Arrival extends StoreWaiter<Void> {

    private final Round round;

    Arrival(Round round) {
      super(lock);
      this.round = round;
    }

    @Override
    void unpark() {
      round.arrived.remove(this);
      if (round.arrived.isEmpty()) {
        rounds.remove(round.key, round);
      }
    }

    @Override
    StoreTimeoutException timeoutAfter(Duration waited) {
      return new StoreTimeoutException(
          what()
              + " timed out after "
              + TimeString.format(waited)
              + ": "
              + round.arrived.size()
              + " of "
              + round.worldSize
              + " callers arrived",
          List.of(round.key),
          waited);
    }

    @Override
    boolean waitsUnder(String keyPrefix) {
      return round.key.startsWith(keyPrefix);
    }

    @Override
    String what() {
      return "barrier " + KeyText.quote(round.key);
    }
  }
}
