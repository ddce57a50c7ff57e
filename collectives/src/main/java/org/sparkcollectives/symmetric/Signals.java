package org.sparkcollectives.symmetric;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.UnaryOperator;
import java.util.stream.IntStream;
import org.sparkcollectives.CollectiveException;
import org.sparkcollectives.ProcessGroup;

/**
 * Signals and barriers by flags in the ranks' memories, which the caller keeps mapped meanwhile.
 */
final class Signals {

  /** For how long the group may say why a peer has gone before the wait says that it has. */
  private static final long PATIENCE_NANOS = TimeUnit.MILLISECONDS.toNanos(200);

  private final int rank;
  private final int size;
  private final PadLayout layout;
  private final List<RankMemory> memories;
  private final SignalWait waits;
  private final UnaryOperator<String> where;
  private volatile boolean closed;

  /**
   * Creates the signals of a rank.
   *
   * @param group the ranks
   * @param layout where the flags are
   * @param memories of all ranks
   * @param where adds to an operation in whose memory it is, for messages
   */
  Signals(
      ProcessGroup group,
      PadLayout layout,
      List<RankMemory> memories,
      UnaryOperator<String> where) {
    this.rank = group.rank();
    this.size = group.size();
    this.layout = layout;
    this.memories = memories;
    this.waits = new SignalWait(group);
    this.where = where;
  }

  /** Signals to all others, and waits for the signals of all others. */
  void barrier(int channel, Duration timeout) {
    List<Integer> others = IntStream.range(0, size).filter(each -> each != rank).boxed().toList();
    for (int other : others) {
      put("barrier", other, channel, timeout);
    }
    List<Integer> missing = new ArrayList<>(others);
    waits.until(
        () -> {
          missing.removeIf(other -> memories.get(rank).take(layout.flag(channel, other)));
          return missing.isEmpty();
        },
        timeout,
        () -> where.apply("barrier on channel " + channel),
        peers(missing));
  }

  /** Sets the flag of this rank at another, once that one has taken it back. */
  void put(String operation, int destination, int channel, Duration timeout) {
    int flag = layout.flag(channel, rank);
    waits.until(
        () -> memories.get(destination).set(flag),
        timeout,
        () -> where.apply(operation + " to rank " + destination + " on channel " + channel),
        peers(List.of(destination)));
  }

  /** Waits for the flag of another rank here, and takes it back. */
  void await(int source, int channel, Duration timeout) {
    waits.until(
        () -> memories.get(rank).take(layout.flag(channel, source)),
        timeout,
        () -> where.apply("wait for a signal of rank " + source + " on channel " + channel),
        peers(List.of(source)));
  }

  /** Tells the other ranks, and the threads of this one that wait, that no signal will come. */
  void close() {
    closed = true;
    memories.get(rank).set(PadLayout.CLOSED);
  }

  private SignalWait.Peers peers(List<Integer> awaited) {
    return new SignalWait.Peers() {
      @Override
      public List<Integer> awaited() {
        return List.copyOf(awaited);
      }

      @Override
      public SignalWait.Gone gone(List<Integer> ranks) {
        return closed
            ? new SignalWait.Gone(
                new IllegalStateException(where.apply("a wait") + ": the memory is closed"),
                0,
                false)
            : goneAmong(ranks);
      }
    };
  }

  /** Finds a rank that gives no signal any more. The group may know more of it in a moment. */
  private SignalWait.Gone goneAmong(List<Integer> ranks) {
    for (int each : ranks) {
      // A rank says that it closes the memory before it does.
      boolean open = memories.get(each).isOpenAtItsOwner();
      boolean left = memories.get(each).isSet(PadLayout.CLOSED);
      if (left || !open) {
        String what =
            left
                ? "rank " + each + " has closed its memory and gives no signal"
                : "the process of rank " + each + " has died";
        return new SignalWait.Gone(
            new CollectiveException(where.apply("a wait") + ": " + what), PATIENCE_NANOS, !left);
      }
    }
    return null;
  }
}
