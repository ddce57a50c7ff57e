package org.sparkcollectives.watchdog;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
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
 * overdue learns so who did not join it. Once in the life of a group.
 *
 * <p>The answer comes from the rank's store watch, not from its task's thread: a rank that is busy
 * in the user's code answers too, and only one that is stopped or gone does not.
 */
public final class ProgressInquiry implements AutoCloseable {

  /** How long to wait for the answers of ranks that live. */
  private static final Duration PATIENCE = Duration.ofSeconds(1);

  private static final String QUESTION = "progress/question";
  private static final String ANSWER = "progress/";
  private static final Logger LOG = LoggerFactory.getLogger(ProgressInquiry.class);

  private final Store store;
  private final int rank;
  private final int size;
  private final Supplier<RankProgress> own;
  private final CompletableFuture<byte[]> watch;

  /** Begins to listen for questions, where the store can be watched. */
  public ProgressInquiry(
      Store store, int rank, int size, Supplier<RankProgress> own, Executor executor) {
    this.store = store.withTimeout(PATIENCE);
    this.rank = rank;
    this.size = size;
    this.own = own;
    if (store instanceof WatchableStore watchable) {
      watch = watchable.watch(QUESTION);
      watch.thenRun(() -> executor.execute(this::answer));
    } else {
      watch = null;
    }
  }

  private void answer() {
    try {
      store.set(ANSWER + rank, own.get().encode());
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
      store.set(QUESTION, new byte[0]);
      answer();
      List<String> keys = new ArrayList<>();
      for (int peer = 0; peer < size; peer++) {
        keys.add(ANSWER + peer);
      }
      try {
        store.waitFor(keys, PATIENCE);
      } catch (StoreTimeoutException e) {
        keys.removeAll(e.missingKeys());
      }
      for (String key : keys) {
        int peer = Integer.parseInt(key.substring(ANSWER.length()));
        if (store.check(List.of(key))) {
          answers.set(peer, RankProgress.decode(store.get(key)));
        }
      }
    } catch (StoreException | IllegalStateException e) {
      LOG.debug("rank {} could not ask how far the others have come: {}", rank, e.toString());
    }
    return answers;
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
    for (int peer : missing) {
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
    return "not arrived: " + String.join("; ", parts);
  }

  /** Stops listening. */
  @Override
  public void close() {
    if (watch != null) {
      watch.cancel(false);
    }
  }
}
