package org.sparkcollectives.internal.liveness;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.sparkcollectives.internal.rendezvous.Membership;
import org.sparkcollectives.store.Deadline;
import org.sparkcollectives.store.Store;
import org.sparkcollectives.store.StoreException;
import org.sparkcollectives.store.StoreTimeoutException;

/**
 * Asks all ranks of a group, through the store, how far they have come. A rank whose operation is
 * overdue learns in this way which ranks did not join it. Questions are numbered, as are their
 * answers; ranks that ask at the same time ask the same question.
 *
 * <p>Often all ranks but one ask, as all wait for that one. Then the first collects the answers and
 * publishes them as one value, and the others read that: the store is asked for as many values as
 * there are ranks, and not for their square. A rank that waits for the collector in vain collects
 * by itself.
 *
 * <p>The answer comes from the rank's store watch, not from its task's thread. So a rank that is
 * busy in the user's code answers too, and only one that is stopped or gone does not. A rank that
 * has not called the collective in question adds the stack of its thread, and logs it.
 */
public final class ProgressInquiry implements AutoCloseable {

  /** The time in which running ranks answer. */
  private static final Duration PATIENCE = Duration.ofSeconds(1);

  /** How long a rank waits for another to collect the answers, which takes {@link #PATIENCE}. */
  private static final Duration COLLECTION = PATIENCE.plusMillis(500);

  /** The most ranks whose stacks are fetched, because every rank that asks receives them all. */
  private static final int MOST_STACKS = 3;

  private static final String QUESTION = "progress/question/";
  private static final String ANSWER = "progress/answer/";
  private static final String STACK = "progress/stack/";
  private static final String COLLECTOR = "progress/collector/";
  private static final String COLLECTED = "progress/collected/";
  private static final Logger LOG = LoggerFactory.getLogger(ProgressInquiry.class);

  private final Store store;
  private final int rank;
  private final int size;
  private final Supplier<ThreadStack> whereIsOwn;
  private final StoreWatch watch;

  /** How far this rank has come. */
  private volatile Supplier<RankProgress> own = () -> new RankProgress(-1, -1, "");

  /**
   * Creates the inquiry of a rank that has called nothing yet.
   *
   * @param whereIsOwn where this rank's thread is
   */
  public ProgressInquiry(
      Store store, Membership members, Supplier<ThreadStack> whereIsOwn, RankHost host) {
    this.store = store.withTimeout(PATIENCE);
    this.rank = members.rank();
    this.size = members.size();
    this.whereIsOwn = whereIsOwn;
    this.watch =
        new StoreWatch(
            this.store,
            StoreWatch.Keys.series(QUESTION, 0),
            PATIENCE,
            BackgroundCalls.of(host.background(), LOG, members.identity()),
            host.time(),
            this::asked);
  }

  /**
   * Begins to listen for questions, if the store can be watched.
   *
   * @param progress how far this rank has come
   */
  public void open(Supplier<RankProgress> progress) {
    own = progress;
    watch.open();
  }

  private void asked(long number, byte[] question) {
    if (question.length == Long.BYTES) {
      try {
        answer(store, number, ByteBuffer.wrap(question).getLong());
      } catch (StoreException | IllegalStateException e) {
        LOG.debug("rank {} could not say how far it has come: {}", rank, e.toString());
      }
    } else {
      LOG.warn(
          "Rank {} ignores a question for its progress of {} bytes, which is none",
          rank,
          question.length);
    }
  }

  /** Answers a question for which no thread was available. Does not block. */
  public void poll() {
    if (canAsk()) {
      watch.poll();
    }
  }

  private static String answerKey(long number, int peer) {
    return ANSWER + number + "/" + peer;
  }

  private static String stackKey(long number, int peer) {
    return STACK + number + "/" + peer;
  }

  private void answer(Store to, long number, long sequenceNumber) {
    RankProgress progress = own.get();
    if (progress.lastCalled() >= sequenceNumber) {
      to.set(answerKey(number, rank), progress.encode());
      return;
    }
    ThreadStack stack = whereIsOwn.get();
    LOG.warn(
        "Other ranks wait in collective #{} for rank {}, which has not called it: {}",
        sequenceNumber,
        rank,
        stack.text());
    // Both are written in one step, so that a rank that sees the answer finds the stack.
    to.multiSet(
        List.of(stackKey(number, rank), answerKey(number, rank)),
        List.of(stack.text().getBytes(StandardCharsets.UTF_8), progress.encode()));
  }

  /** Returns whether ranks notice questions, which needs a store that can be watched. */
  private boolean canAsk() {
    return watch.isPushed();
  }

  /** Returns the answer of this rank alone. */
  public ProgressAnswers ownAnswer() {
    return ProgressAnswers.none(size, "").with(rank, own.get());
  }

  /**
   * Asks all ranks to answer, whichever operation they are in, if they can be asked. Blocks as
   * {@link #ask} does.
   */
  public ProgressAnswers askWhoResponds() {
    return canAsk() ? ask(-1) : ProgressAnswers.NONE;
  }

  /**
   * Asks the ranks about the collective with this number. Blocks for about a second at the most, or
   * for six and a half if the store is slow or the rank that collects is lost; for a second if the
   * store does not answer.
   */
  public ProgressAnswers ask(long sequenceNumber) {
    try {
      long number = watch.next();
      Deadline.after(PATIENCE)
          .bound(store)
          .set(QUESTION + number, ByteBuffer.allocate(Long.BYTES).putLong(sequenceNumber).array());
      answerOwn(number, sequenceNumber);
      ProgressAnswers answers =
          collects(number) ? collect(number, sequenceNumber) : collected(number, sequenceNumber);
      // Where not one answer arrives, the store may have failed, and nothing is known of anyone.
      return answers.isEmpty() ? answers : answers.with(rank, own.get());
    } catch (StoreException | IllegalStateException e) {
      LOG.debug("rank {} could not ask how far the others have come: {}", rank, e.toString());
      return ProgressAnswers.none(size, String.valueOf(e.getMessage()));
    }
  }

  /** Returns whether this rank is the first to ask this question. */
  private boolean collects(long number) {
    byte[] self = String.valueOf(rank).getBytes(StandardCharsets.UTF_8);
    byte[] first =
        Deadline.after(PATIENCE).bound(store).compareSet(COLLECTOR + number, new byte[0], self);
    return Arrays.equals(first, self);
  }

  /** Collects the answers to a question, and publishes them. */
  private ProgressAnswers collect(long number, long sequenceNumber) {
    ProgressAnswers answers = read(number, sequenceNumber);
    if (answers.isEmpty()) {
      // The others do better to ask by themselves.
      return answers;
    }
    try {
      Deadline.after(PATIENCE).bound(store).set(COLLECTED + number, answers.encode());
    } catch (StoreException | IllegalStateException e) {
      LOG.debug("rank {} could not publish what it has collected: {}", rank, e.toString());
    }
    return answers;
  }

  /** Returns what the rank that was the first to ask has collected. */
  private ProgressAnswers collected(long number, long sequenceNumber) {
    Store bounded = Deadline.after(COLLECTION).bound(store.withTimeout(COLLECTION));
    try {
      return ProgressAnswers.decode(bounded.get(COLLECTED + number), size);
    } catch (StoreTimeoutException e) {
      LOG.debug("rank {} asks by itself how far the others have come: {}", rank, e.toString());
    } catch (IllegalArgumentException e) {
      LOG.warn("Rank {} cannot read what another has collected: {}", rank, e.getMessage());
    }
    return read(number, sequenceNumber);
  }

  /** Answers as the rank that asks. The others may answer though the store does not take this. */
  private void answerOwn(long number, long sequenceNumber) {
    try {
      answer(Deadline.after(PATIENCE).bound(store), number, sequenceNumber);
    } catch (StoreException e) {
      LOG.debug("rank {} could not say how far it has come itself: {}", rank, e.toString());
    }
  }

  /** Reads what the ranks answer to a question. */
  private ProgressAnswers read(long number, long sequenceNumber) {
    RankProgress[] progress = new RankProgress[size];
    Map<Integer, ThreadStack> stacks = new TreeMap<>();
    String obstacle = "";
    try {
      Store bounded = Deadline.after(PATIENCE.multipliedBy(2)).bound(store);
      List<Integer> answered = answered(bounded, number);
      List<byte[]> values =
          bounded.multiGet(answered.stream().map(peer -> answerKey(number, peer)).toList());
      for (int i = 0; i < values.size(); i++) {
        progress[answered.get(i)] = progressOf(answered.get(i), values.get(i));
      }
      for (int peer : answered) {
        if (progress[peer] != null
            && progress[peer].lastCalled() < sequenceNumber
            && stacks.size() < MOST_STACKS
            && bounded.check(List.of(stackKey(number, peer)))) {
          byte[] text = bounded.get(stackKey(number, peer));
          stacks.put(peer, new ThreadStack(new String(text, StandardCharsets.UTF_8)));
        }
      }
    } catch (StoreException | IllegalStateException e) {
      LOG.debug("rank {} could not read how far the others have come: {}", rank, e.toString());
      obstacle = String.valueOf(e.getMessage());
    }
    return new ProgressAnswers(Arrays.asList(progress), stacks, obstacle);
  }

  /** Returns the progress in a rank's answer; null if it is no answer. */
  private static RankProgress progressOf(int peer, byte[] answer) {
    try {
      return RankProgress.decode(answer);
    } catch (IllegalArgumentException e) {
      LOG.warn("Rank {} has not said how far it has come: {}", peer, e.getMessage());
      return null;
    }
  }

  /** Returns the ranks that answer in time. */
  private List<Integer> answered(Store bounded, long number) {
    List<String> keys = new ArrayList<>();
    for (int peer = 0; peer < size; peer++) {
      keys.add(answerKey(number, peer));
    }
    Set<String> missing = Set.of();
    try {
      bounded.waitFor(keys, PATIENCE);
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

  /** Stops listening. */
  @Override
  public void close() {
    watch.close();
  }
}
