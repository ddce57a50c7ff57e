package org.sparkcollectives.internal.algorithm;

import java.util.List;
import java.util.Optional;
import java.util.function.Predicate;
import java.util.function.ToDoubleFunction;
import java.util.stream.Stream;
import org.sparkcollectives.OpType;

/**
 * The rows of {@link AlgorithmTable} for one collective, and the rule by which one is chosen.
 *
 * @param type the collective
 * @param <C> the calls of the collective
 */
record AlgorithmRows<C>(
    OpType type, List<Row<C>> inMemory, List<Row<C>> messages, List<Row<C>> hierarchical) {

  /**
   * A condition of an algorithm.
   *
   * @param otherwise why it is not taken where the condition does not hold
   * @param isWish whether it is taken all the same where nothing else can be
   */
  record Condition(String otherwise, boolean isWish, Predicate<Situation> test) {

    boolean holds(Situation situation) {
      return test.test(situation);
    }
  }

  /** The fit of an algorithm to a situation. */
  enum Fit {
    GOOD,
    ONLY_IF_NOTHING_ELSE_DOES,
    IMPOSSIBLE
  }

  /** The means by which an algorithm reaches the other ranks. */
  enum Kind {
    IN_MEMORY,
    MESSAGES,
    HIERARCHICAL
  }

  /**
   * A row of the table.
   *
   * @param prediction of the seconds that it takes; none in memory, which goes before the others
   */
  record Row<C>(
      Kind kind,
      String name,
      Algorithm<C> algorithm,
      ToDoubleFunction<Situation> prediction,
      List<Condition> conditions) {

    double seconds(Situation situation) {
      return prediction.applyAsDouble(situation);
    }

    Fit fit(Situation situation) {
      Fit fit = Fit.GOOD;
      for (Condition each : conditions) {
        if (!each.holds(situation)) {
          if (!each.isWish()) {
            return Fit.IMPOSSIBLE;
          }
          fit = Fit.ONLY_IF_NOTHING_ELSE_DOES;
        }
      }
      return fit;
    }

    /** Returns why it cannot carry out a call; empty where it can. */
    Optional<String> obstacle(Situation situation) {
      return conditions.stream()
          .filter(each -> !each.isWish() && !each.holds(situation))
          .map(Condition::otherwise)
          .findFirst();
    }

    private boolean isBetterThan(Row<C> other, Situation situation) {
      int byFit = fit(situation).compareTo(other.fit(situation));
      return byFit == 0 ? seconds(situation) < other.seconds(situation) : byFit < 0;
    }
  }

  /** Returns all rows. */
  List<Row<C>> all() {
    return Stream.of(inMemory, messages, hierarchical).flatMap(List::stream).toList();
  }

  /** Returns what carries out a call. */
  Row<C> choose(Situation situation) {
    for (Row<C> each : inMemory) {
      if (each.fit(situation) == Fit.GOOD) {
        return each;
      }
    }
    Row<C> message = chooseMessages(situation);
    for (Row<C> each : hierarchical) {
      if (each.fit(situation) == Fit.GOOD && each.seconds(situation) < message.seconds(situation)) {
        return each;
      }
    }
    return message;
  }

  /** Returns what carries out a call, or a piece of it, by messages. */
  Row<C> chooseMessages(Situation situation) {
    Row<C> best = messages.get(0);
    for (int i = 1; i < messages.size(); i++) {
      if (messages.get(i).isBetterThan(best, situation)) {
        best = messages.get(i);
      }
    }
    return best;
  }

  /** Predicts how many seconds a call takes by messages. */
  double messageSeconds(Situation situation) {
    return chooseMessages(situation).seconds(situation);
  }
}
