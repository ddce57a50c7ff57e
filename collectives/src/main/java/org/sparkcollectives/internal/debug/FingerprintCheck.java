package org.sparkcollectives.internal.debug;

import java.nio.ByteBuffer;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.sparkcollectives.CollectiveCall;
import org.sparkcollectives.CollectiveMismatchException;
import org.sparkcollectives.DType;
import org.sparkcollectives.OpType;
import org.sparkcollectives.internal.algorithm.AlgorithmSelector;
import org.sparkcollectives.internal.algorithm.Call;
import org.sparkcollectives.internal.transport.Communicator;
import org.sparkcollectives.internal.transport.OperationHeader;
import org.sparkcollectives.spi.failure.MismatchCodec;
import org.sparkcollectives.spi.tensor.HostTensor;

/**
 * Compares the ranks' calls before they are carried out: {@link
 * org.sparkcollectives.DebugLevel#DETAIL}.
 *
 * <p>The ranks gather a digest of each one's call. Only if digests differ do they gather the calls
 * themselves, and then all fail with the same message. If parts differ in size, they also gather
 * how much each sends to each. As c10d's {@code ProcessGroupWrapper}, which does not compare
 * reductions, roots and splits.
 */
public final class FingerprintCheck {

  private static final int DIGEST = 2;

  private final AlgorithmSelector algorithms;

  /** Creates a check that gathers with {@code algorithms}. */
  public FingerprintCheck(AlgorithmSelector algorithms) {
    this.algorithms = algorithms;
  }

  /**
   * Compares the calls of all ranks. Blocks until all have arrived.
   *
   * @param sequenceNumber the number of the operation in its group
   * @param call of this rank
   * @param sends how many elements go to each rank; empty where all ranks know from the call
   * @param receives how many elements come from each rank; empty where {@code sends} is
   * @throws CollectiveMismatchException on every rank, if two ranks differ; names both and both
   *     calls
   */
  public void compare(
      Communicator communicator,
      long sequenceNumber,
      CollectiveCall call,
      long[] sends,
      long[] receives) {
    communicator.begin(new OperationHeader(OpType.FINGERPRINT, sequenceNumber, DType.INT64, 0));
    long[] digests = gather(communicator, digest(call));
    for (int rank = 1; rank < communicator.size(); rank++) {
      if (!sameAs(digests, rank, 0)) {
        throw mismatch(communicator, call, digests);
      }
    }
    if (sends.length > 0) {
      requireSplits(communicator, call, sends, receives);
    }
  }

  private static long[] digest(CollectiveCall call) {
    try {
      byte[] digest = MessageDigest.getInstance("SHA-256").digest(MismatchCodec.encode(call.by(0)));
      ByteBuffer longs = ByteBuffer.wrap(digest);
      return new long[] {longs.getLong(), longs.getLong()};
    } catch (NoSuchAlgorithmException e) {
      throw new AssertionError("every Java platform has SHA-256", e);
    }
  }

  private static boolean sameAs(long[] digests, int rank, int other) {
    return digests[DIGEST * rank] == digests[DIGEST * other]
        && digests[DIGEST * rank + 1] == digests[DIGEST * other + 1];
  }

  /**
   * Returns an exception that names two ranks: the lowest that makes the most frequent call, and
   * the lowest that makes another.
   */
  private CollectiveMismatchException mismatch(
      Communicator communicator, CollectiveCall call, long[] digests) {
    List<CollectiveCall> all = gatherCalls(communicator, call);
    List<String> calls = all.stream().map(CollectiveCall::toString).toList();
    Map<String, Integer> counts = new HashMap<>();
    calls.forEach(each -> counts.merge(each, 1, Integer::sum));
    int usual = 0;
    for (int rank = 1; rank < calls.size(); rank++) {
      if (counts.get(calls.get(rank)) > counts.get(calls.get(usual))) {
        usual = rank;
      }
    }
    int odd = 0;
    while (sameAs(digests, odd, usual)) {
      odd++;
    }
    return new CollectiveMismatchException(
        "Ranks call different collectives:\n  rank "
            + usual
            + " calls "
            + calls.get(usual)
            + "\n  rank "
            + odd
            + " calls "
            + calls.get(odd)
            + "\n"
            + counts.get(calls.get(usual))
            + " of "
            + calls.size()
            + " ranks call the first. All ranks must call the same collectives in the same order",
        List.of(all.get(usual), all.get(odd)));
  }

  private void requireSplits(
      Communicator communicator, CollectiveCall call, long[] sends, long[] receives) {
    int n = communicator.size();
    long[] own = Arrays.copyOf(sends, 2 * n);
    System.arraycopy(receives, 0, own, n, n);
    long[] all = gather(communicator, own);
    for (int from = 0; from < n; from++) {
      for (int to = 0; to < n; to++) {
        long sent = all[2 * n * from + to];
        long expected = all[2 * n * to + n + from];
        if (sent != expected) {
          throw new CollectiveMismatchException(
              "Ranks give different sizes in "
                  + call
                  + ":\n  rank "
                  + from
                  + " sends "
                  + sent
                  + " elements to rank "
                  + to
                  + "\n  rank "
                  + to
                  + " expects "
                  + expected
                  + " elements from rank "
                  + from,
              List.of(call.by(from).withCount(sent), call.by(to).withCount(expected)));
        }
      }
    }
  }

  private long[] gather(Communicator communicator, long[] own) {
    long[] all = new long[own.length * communicator.size()];
    algorithms.run(
        communicator,
        Call.allGather(
            HostTensor.wrap(DType.INT64, all),
            HostTensor.wrap(DType.INT64, own),
            communicator.size()));
    return all;
  }

  private List<CollectiveCall> gatherCalls(Communicator communicator, CollectiveCall own) {
    byte[] encoded = MismatchCodec.encode(own);
    long[] lengths = gather(communicator, new long[] {encoded.length});
    List<byte[]> all = new ArrayList<>();
    List<HostTensor> outputs = new ArrayList<>();
    for (long length : lengths) {
      byte[] each = new byte[(int) length];
      all.add(each);
      outputs.add(HostTensor.wrap(DType.UINT8, each));
    }
    algorithms.run(communicator, Call.allGather(outputs, HostTensor.wrap(DType.UINT8, encoded)));
    return all.stream().map(MismatchCodec::decodeCall).toList();
  }
}
