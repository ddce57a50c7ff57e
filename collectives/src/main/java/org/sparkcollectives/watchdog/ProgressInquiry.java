package org.sparkcollectives.watchdog;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.sparkcollectives.store.Store;
import org.sparkcollectives.store.StoreException;
import org.sparkcollectives.store.StoreTimeoutException;
import org.sparkcollectives.store.WatchableStore;

/**
 * Asks all ranks of a group, through the store, how far they have come: a rank whose operation is
 * overdue learns so who did not join it. Questions are numbered, as are their answers; ranks that
 * ask at the same time ask the same question.
 *
 * <p>The answer comes from the rank's store watch, not from its task's thread: a rank that is busy
 * in the user's code answers too, and only one that is stopped or gone does not.
 */
public final class ProgressInquiry implements AutoCloseable {

  /** How long to wait for the answers of ranks that live. */
  private static final Duration PATIENCE = Duration.ofSeconds(1);

  /** As many as one can read. */
  private static final int MOST_NAMED = 20;

  private static final String QUESTION = "progress/question/";
  private static final String ANSWER = "progress/answer/";
  private static final Logger LOG = LoggerFactory.getLogger(ProgressInquiry.class);

  private final Store store;
  private final int rank;
  private final int size;
  private final Supplier<RankProgress> own;
  private final Executor executor;
  private volatile CompletableFuture<byte[]> watch;
  private volatile long question;
  private volatile boolean closed;

  /** Begins to listen for questions, where the store can be watched. */
  public ProgressInquiry(
      Store store, int rank, int size, Supplier<RankProgress> own, Executor executor) {
    this.store = store.withTimeout(PATIENCE);
    this.rank = rank;
    this.size = size;
    this.own = own;
    this.executor = executor;
    if (store instanceof WatchableStore watchable) {
      listen(watchable, 0);
    }
  }

  private void listen(WatchableStore watchable, long number) {
    question = number;
    CompletableFuture<byte[]> asked = watchable.watch(QUESTION + number);
    watch = asked;
    asked.thenRun(
        () ->
            executor.execute(
                () -> {
                  answer(number);
                  if (!closed) {
                    listen(watchable, number + 1);
                  }
                }));
    if (closed) {
      asked.cancel(false);
    }
  }

  private static String answerKey(long number, int peer) {
    return ANSWER + number + "/" + peer;
  }

  private void answer(long number) {
    try {
      store.set(answerKey(number, rank), own.get().encode());
    } catch (StoreException | IllegalStateException e) {
      LOG.debug("rank {} could not say how far it has come: {}", rank, e.toString());
    }
  }

  /**
   * The progress of each rank; null of one that did not answer. Blocks for about a second at the
   * most.
   */
  public List<RankProgress> ask() {
    List<RankProgress> answers = new ArrayList<>();
    for (int peer = 0; peer < size; peer++) {
      answers.add(null);
    }
    try {
      long number = question;
      store.set(QUESTION + number, new byte[0]);
      answer(number);
      List<Integer> answered = answered(number);
      List<byte[]> values =
          store.multiGet(answered.stream().map(peer -> answerKey(number, peer)).toList());
      for (int i = 0; i < values.size(); i++) {
        answers.set(answered.get(i), RankProgress.decode(values.get(i)));
      }
    } catch (StoreException | IllegalStateException e) {
      LOG.debug("rank {} could not ask how far the others have come: {}", rank, e.toString());
    }
    return answers;
  }

  /** The ranks that answer in time. */
  private List<Integer> answered(long number) {
    List<String> keys = new ArrayList<>();
    for (int peer = 0; peer < size; peer++) {
      keys.add(answerKey(number, peer));
    }
    Set<String> missing = Set.of();
    try {
      store.waitFor(keys, PATIENCE);
    } catch (StoreTimeoutException e) {
      missing = Set.copyOf(e.missingKeys());
    }
    List<Integer> answered = new ArrayList<>();
    for (int peer = 0; peer < size; peer++) {
      if (!missing.contains(keys.get(peer))) {
        answered.add(peer);
      }
    }
    return answered;
  }

  /** The ranks that have not called the collective with this number, by what they said. */
  public static List<Integer> missing(List<RankProgress> answers, long sequenceNumber) {
    List<Integer> missing = new ArrayList<>();
    for (int peer = 0; peer < answers.size(); peer++) {
      RankProgress progress = answers.get(peer);
      if (progress == null || progress.lastCalled() < sequenceNumber) {
        missing.add(peer);
      }
    }
    return missing;
  }

  /** A sentence about the ranks that did not join, with the last thing that each was seen in. */
  public static String describe(
      List<RankProgress> answers, List<Integer> missing, List<String> places) {
    if (missing.isEmpty()) {
      return "all ranks have joined it";
    }
    if (answers.stream().allMatch(java.util.Objects::isNull)) {
      return "which ranks have not arrived is not known";
    }
    List<String> parts = new ArrayList<>();
    for (int peer : missing.subList(0, Math.min(MOST_NAMED, missing.size()))) {
      RankProgress progress = answers.get(peer);
      String seen;
      if (progress == null) {
        seen = "gives no sign of life";
      } else if (progress.lastCalled() < 0) {
        seen = "has not called any collective";
      } else {
        seen = "last called " + progress.lastOperation();
      }
      parts.add(places.get(peer) + ", which " + seen);
    }
    if (missing.size() > MOST_NAMED) {
      parts.add((missing.size() - MOST_NAMED) + " more ranks");
    }
    return "not arrived: " + String.join("; ", parts);
  }

  /** Stops listening. */
  @Override
  public void close() {
    closed = true;
    CompletableFuture<byte[]> listening = watch;
    if (listening != null) {
      listening.cancel(false);
    }
  }
}
