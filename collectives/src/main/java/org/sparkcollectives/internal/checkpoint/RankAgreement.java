package org.sparkcollectives.internal.checkpoint;

import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.Arrays;
import java.util.List;
import java.util.function.Supplier;
import java.util.stream.IntStream;
import org.sparkcollectives.CollectiveException;
import org.sparkcollectives.CollectiveMismatchException;
import org.sparkcollectives.ProcessGroup;
import org.sparkcollectives.Tensor;
import org.sparkcollectives.store.Deadline;
import org.sparkcollectives.store.Store;
import org.sparkcollectives.store.StoreException;

/**
 * Takes the ranks of a group through the steps of one call together. Each step is done by all of
 * them or none. If the store refuses one rank, the call ends on all, but not the group. The steps
 * share one deadline, the group's timeout from the beginning of the call.
 */
final class RankAgreement {

  private final ProcessGroup group;
  private final String call;
  private final long identity;
  private final Deadline deadline;

  /**
   * Creates the agreement of a call that begins now.
   *
   * @param call what messages call it
   * @param identity what all ranks must have in common, such as the name that they give
   */
  RankAgreement(ProcessGroup group, String call, String identity) {
    this.group = group;
    this.deadline = Deadline.after(group.timeout());
    this.call = call;
    this.identity = digest(call + "\n" + identity);
  }

  private static long digest(String text) {
    try {
      byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
      return ByteBuffer.wrap(MessageDigest.getInstance("SHA-256").digest(bytes)).getLong();
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("Every JVM has SHA-256", e);
    }
  }

  /** Returns the group, for an operation that ends with the call's deadline. */
  ProcessGroup group() {
    return group.withTimeout(deadline.left());
  }

  /** Returns when the call must be over. */
  Deadline deadline() {
    return deadline;
  }

  /** Returns a view of a store whose calls end with the call's deadline, or a little later. */
  Store within(Store store) {
    return deadline.bound(store);
  }

  /**
   * Returns, on all ranks, what rank 0 decides.
   *
   * @param length how many numbers that is
   * @param step what rank 0 does, as in "could not ..."
   * @param decide run on rank 0
   * @return the same on every rank
   * @throws CollectiveMismatchException on every rank, if they do not make the same call
   * @throws CollectiveException on every rank, if rank 0 could not do it
   */
  long[] byRankZero(int length, String step, Supplier<long[]> decide) {
    long[] rows = decide(new long[2 + length], step, decide);
    return Arrays.copyOfRange(rows, 2, 2 + length);
  }

  /**
   * Returns what rank 0 decides, followed by the sum of what all ranks give.
   *
   * @param given by this rank
   */
  long[] byRankZero(int length, String step, Supplier<long[]> decide, long given) {
    long[] row = new long[2 + length + 1];
    row[2 + length] = given;
    long[] rows = decide(row, step, decide);
    long[] decided = Arrays.copyOfRange(rows, 2, 2 + length + 1);
    for (int rank = 1; rank < group.size(); rank++) {
      decided[length] += rows[rank * row.length + 2 + length];
    }
    return decided;
  }

  /**
   * Returns the rows of all ranks: the call's identity, whether rank 0 could decide, and its
   * decision.
   */
  private long[] decide(long[] row, String step, Supplier<long[]> decide) {
    row[0] = identity;
    RuntimeException failure = null;
    if (group.rank() == 0) {
      try {
        long[] decided = decide.get();
        System.arraycopy(decided, 0, row, 2, decided.length);
        row[1] = 1;
      } catch (StoreException | IllegalStateException | CollectiveException e) {
        failure = e;
      }
    }
    long[] rows = gather(row);
    requireSameCall(rows, row.length);
    if (rows[1] == 0) {
      throw failed(failure, step, List.of(0));
    }
    return rows;
  }

  private void requireSameCall(long[] rows, int rowLength) {
    List<Integer> others =
        IntStream.range(0, group.size())
            .filter(rank -> rows[rank * rowLength] != identity)
            .boxed()
            .toList();
    if (!others.isEmpty()) {
      throw new CollectiveMismatchException(
          where()
              + ": ranks "
              + others
              + " are in another checkpoint or restore, or in one of another name or form, or of"
              + " other tensors where they are to be alike; all ranks must make the same calls in"
              + " the same order");
    }
  }

  /**
   * Runs a step on every rank, and waits for all.
   *
   * @param step as in "could not ..."
   * @param undo run on every rank, if all ranks know that one of them could not do it; where a rank
   *     does not know what the others do, it does not know that this is not needed any more
   * @throws CollectiveException on every rank, if one of them could not do it
   * @throws IllegalArgumentException on the ranks where {@code work} has thrown it
   */
  void byAll(String step, Runnable work, Runnable undo) {
    RuntimeException failure = null;
    try {
      work.run();
    } catch (StoreException
        | IllegalArgumentException
        | IllegalStateException
        | CollectiveException e) {
      failure = e;
    }
    long[] succeeded = gather(new long[] {failure == null ? 1 : 0});
    List<Integer> failed =
        IntStream.range(0, group.size()).filter(rank -> succeeded[rank] == 0).boxed().toList();
    if (!failed.isEmpty()) {
      undo.run();
      throw failed(failure, step, failed);
    }
  }

  /** Runs a step that leaves nothing to undo on every rank, and waits for all. */
  void byAll(String step, Runnable work) {
    byAll(step, work, () -> {});
  }

  private RuntimeException failed(RuntimeException own, String step, List<Integer> ranks) {
    if (own instanceof IllegalArgumentException) {
      return new IllegalArgumentException(where() + ": " + own.getMessage(), own);
    }
    return own == null
        ? new CollectiveException(
            where() + ": ranks " + ranks + " could not " + step + "; their exceptions say why")
        : new CollectiveException(where() + ": could not " + step + ": " + own.getMessage(), own);
  }

  /** Returns the call and this rank, with which messages begin. */
  String where() {
    return call
        + " of group \""
        + group.name()
        + "\" on rank "
        + group.rank()
        + " of "
        + group.size();
  }

  private long[] gather(long[] row) {
    long[] rows = new long[row.length * group.size()];
    group().allGather(Tensor.of(rows), Tensor.of(row)).await();
    return rows;
  }
}
