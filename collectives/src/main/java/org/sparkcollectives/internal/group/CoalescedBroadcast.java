package org.sparkcollectives.internal.group;

import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import org.sparkcollectives.ProcessGroup;
import org.sparkcollectives.Tensor;
import org.sparkcollectives.Work;

/**
 * Broadcasts tensors, of which the small ones share buffers: see {@link
 * ProcessGroup#broadcastCoalesced}. At most two buffers are under way, so that the memory for them
 * is bounded while one is copied and the other is sent.
 */
final class CoalescedBroadcast {

  private static final int MOST_UNDER_WAY = 2;

  private final ProcessGroup group;
  private final List<Tensor> tensors;
  private final int root;
  private final Deque<Sent> underWay = new ArrayDeque<>();

  /**
   * Creates the broadcast of tensors that are alike on all ranks.
   *
   * @param group for the parts of one call
   */
  CoalescedBroadcast(ProcessGroup group, List<Tensor> tensors, int root) {
    this.group = group;
    this.tensors = tensors;
    this.root = root;
  }

  /**
   * Returns texts that must be the same on all ranks. Without comparing them, lists of equal sums
   * but different tensors would be taken apart in the wrong places.
   */
  static List<String> describe(List<Tensor> tensors, long bufferBytes, int root) {
    List<String> texts = new ArrayList<>();
    texts.add("buffers of " + bufferBytes + " bytes from root " + root);
    texts.add(tensors.size() + " tensors");
    for (int i = 0; i < tensors.size(); i++) {
      Tensor each = tensors.get(i);
      texts.add(
          "tensor "
              + i
              + " as "
              + each.dtype().label()
              + " x "
              + each.count()
              + " on a "
              + each.device().type());
    }
    return texts;
  }

  /** A buffer under way. */
  private record Sent(List<Integer> indices, Tensor buffer, Work work) {}

  /** Broadcasts all tensors, and blocks until this rank has them. */
  void run(long bufferBytes) {
    try {
      for (List<Integer> indices : BroadcastBuffers.assign(tensors, bufferBytes)) {
        if (underWay.size() == MOST_UNDER_WAY) {
          receive(underWay.remove());
        }
        underWay.add(send(indices));
      }
      while (!underWay.isEmpty()) {
        receive(underWay.remove());
      }
    } catch (RuntimeException | Error e) {
      awaitEnd(e);
      throw e;
    }
  }

  private Sent send(List<Integer> indices) {
    if (indices.size() == 1) {
      Tensor alone = tensors.get(indices.get(0));
      return new Sent(indices, alone, group.broadcast(alone, root));
    }
    long count = indices.stream().mapToLong(index -> tensors.get(index).count()).sum();
    Tensor buffer = Tensor.allocate(tensors.get(indices.get(0)).dtype(), count);
    if (group.rank() == root) {
      long offset = 0;
      for (int index : indices) {
        Tensor tensor = tensors.get(index);
        buffer.slice(offset, tensor.count()).copyFrom(tensor);
        offset += tensor.count();
      }
    }
    return new Sent(indices, buffer, group.broadcast(buffer, root));
  }

  private void receive(Sent sent) {
    sent.work().await();
    if (sent.indices().size() == 1 || group.rank() == root) {
      return;
    }
    long offset = 0;
    for (int index : sent.indices()) {
      Tensor tensor = tensors.get(index);
      tensor.copyFrom(sent.buffer().slice(offset, tensor.count()));
      offset += tensor.count();
    }
  }

  /**
   * Waits until no operation uses a tensor of the caller any more, after one of them has failed.
   */
  private void awaitEnd(Throwable failure) {
    while (!underWay.isEmpty()) {
      try {
        underWay.remove().work().await();
      } catch (RuntimeException e) {
        if (e != failure) {
          failure.addSuppressed(e);
        }
      }
    }
  }
}
