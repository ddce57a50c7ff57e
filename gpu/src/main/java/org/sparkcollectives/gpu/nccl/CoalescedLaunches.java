package org.sparkcollectives.gpu.nccl;

import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;

/**
 * The coalescing blocks of a group, one per thread: the operations that a thread starts in its
 * block are launched together, as one group of NCCL calls.
 */
final class CoalescedLaunches {

  /** Belongs to this group: a thread may be in blocks of several groups. */
  @SuppressWarnings("ThreadLocalUsage")
  private final ThreadLocal<Block> blocks = new ThreadLocal<>();

  /**
   * The operations that a thread has started since its block began. Guarded by the monitor of the
   * group.
   */
  static final class Block {
    private final List<NcclOperation> operations = new ArrayList<>();
    private volatile boolean ended;

    void add(NcclOperation operation) {
      operations.add(operation);
    }

    /** Ends the block: nothing is added any more. */
    List<NcclOperation> end() {
      ended = true;
      return List.copyOf(operations);
    }
  }

  /** Returns the block of this thread, or null. */
  Block current() {
    Block block = blocks.get();
    return block == null || block.ended ? null : block;
  }

  /**
   * Begins a block. Blocks that the thread begins inside it have no effect.
   *
   * @param atEnd runs when the block ends, on the thread that ends it
   * @return the action that ends the block
   */
  Runnable begin(Consumer<Block> atEnd) {
    if (current() != null) {
      return () -> {};
    }
    Block block = new Block();
    blocks.set(block);
    return () -> {
      if (blocks.get() == block) {
        blocks.remove();
      }
      atEnd.accept(block);
    };
  }
}
