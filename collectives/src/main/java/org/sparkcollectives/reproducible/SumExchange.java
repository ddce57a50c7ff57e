package org.sparkcollectives.reproducible;

import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.Deque;
import java.util.List;
import java.util.Locale;
import org.sparkcollectives.ProcessGroup;
import org.sparkcollectives.ReduceOp;
import org.sparkcollectives.Tensor;
import org.sparkcollectives.Work;
import org.sparkcollectives.spi.tensor.HostTensor;

/**
 * Adds up the ranks' sums: first they agree on each element's top bin, then they add whole numbers.
 * A message is made while another is on its way.
 */
final class SumExchange {

  /** The most terms of all ranks together: more could overflow the words that are sent. */
  private static final long MOST_TERMS = 1L << 32;

  private final ProcessGroup group;
  private final SummedBlock[] blocks;

  private final int elements;

  SumExchange(ProcessGroup group, SummedBlock[] blocks) {
    this.group = group;
    this.blocks = blocks;
    elements = Arrays.stream(blocks).mapToInt(SummedBlock::length).sum();
  }

  void run(long terms, HostTensor result) {
    if (group.size() > BinnedBlock.MOST_RANKS) {
      throw new IllegalArgumentException(
          String.format(
              Locale.ROOT,
              "reproducible sum of group \"%s\": %,d ranks can add up theirs, not %,d",
              group.name(),
              BinnedBlock.MOST_RANKS,
              group.size()));
    }
    byte[] agreed = agree(terms);
    boolean others = agreed[elements] != 0;
    Deque<OnTheWay> onTheWay = new ArrayDeque<>();
    for (int first = 0; first < blocks.length; first += SumMessage.BLOCKS) {
      SumMessage message =
          onTheWay.size() < 2 ? new SumMessage(blocks, agreed) : receive(onTheWay.remove(), result);
      message.encode(first, Math.min(first + SumMessage.BLOCKS, blocks.length), others);
      List<Work> works = message.tensors().stream().map(group::allReduce).toList();
      onTheWay.add(new OnTheWay(message, works));
    }
    onTheWay.forEach(each -> receive(each, result));
  }

  /**
   * Returns the highest top bin of each element on all ranks, then whether a rank has NaNs or
   * infinities, and the bits of the number of terms of the rank with most.
   */
  private byte[] agree(long terms) {
    byte[] most = Arrays.copyOf(SumMessage.tops(blocks), elements + 2);
    most[elements] = (byte) (Arrays.stream(blocks).anyMatch(each -> each.others() != null) ? 1 : 0);
    most[elements + 1] = (byte) (Long.SIZE - Long.numberOfLeadingZeros(Math.max(0, terms - 1)));
    group.allReduce(Tensor.of(most), ReduceOp.MAX).await();
    checkTerms(1L << most[elements + 1]);
    return most;
  }

  private void checkTerms(long bound) {
    if (bound * group.size() > MOST_TERMS) {
      throw new IllegalArgumentException(
          String.format(
              Locale.ROOT,
              "reproducible sum of group \"%s\" on rank %d of %d: a rank has more than %,d terms,"
                  + " but %d ranks may have up to %,d each; reduce fewer terms at once",
              group.name(),
              group.rank(),
              group.size(),
              bound / 2,
              group.size(),
              Long.highestOneBit(MOST_TERMS / group.size())));
    }
  }

  private static SumMessage receive(OnTheWay sent, HostTensor result) {
    sent.works().forEach(Work::await);
    sent.message().write(result);
    return sent.message();
  }

  /** A message and its all-reduces. */
  private record OnTheWay(SumMessage message, List<Work> works) {}
}
