package org.sparkcollectives.gpu.nccl;

import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;

/** The blocks of a group that threads are in: what they begin there is launched together. */
final class LaunchBlocks {

  /** Of this group: a thread may be in blocks of several. */
  @SuppressWarnings("ThreadLocalUsage")
  private final ThreadLocal<Block> blocks = new ThreadLocal<>();

  /** What a thread has begun since a block was opened; under the monitor of its group. */
  static final class Block {
    private final List<NcclOperation> operations = new ArrayList<>();
    private volatile boolean ended;

    void add(NcclOperation operation) {
      operations.add(operation);
    }

    /** Nothing is added any more. */
    List<NcclOperation> end() {
      ended = true;
      return List.copyOf(operations);
    }
  }

  /** That of this thread, or null. */
  Block current() {
    Block block = blocks.get();
    return block == null || block.ended ? null : block;
  }

  /**
   * Begins a block, within which others that the thread begins have no effect.
   *
   * @param atEnd ends it, on the thread that does so
   * @return ends it
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
