package org.sparkcollectives.engine;

import java.util.ArrayList;
import java.util.List;
import org.sparkcollectives.Coalescing;
import org.sparkcollectives.Work;

/** The blocks of operations that threads have opened in a group, one a thread at the most. */
final class CoalescingBlocks {

  private final String group;

  @SuppressWarnings("ThreadLocalUsage") // Of this group: a thread may be in blocks of several.
  private final ThreadLocal<Block> current = new ThreadLocal<>();

  CoalescingBlocks(String group) {
    this.group = group;
  }

  Coalescing open() {
    Block before = current.get();
    if (before != null && !before.closed) {
      throw new IllegalStateException(
          "A coalescing block of group \"" + group + "\" is open already on this thread");
    }
    Block block = new Block();
    current.set(block);
    return block;
  }

  /** Counts a work among those of this thread's block, if there is one. */
  Work begun(Work work) {
    Block block = current.get();
    // Another thread may have closed it.
    if (block != null && !block.closed) {
      block.works.add(work);
    }
    return work;
  }

  private final class Block implements Coalescing {
    private final List<Work> works = new ArrayList<>();
    private volatile boolean closed;

    @Override
    public void close() {
      closed = true;
      if (current.get() == this) {
        current.remove();
      }
    }

    @Override
    public Work work() {
      if (!closed) {
        throw new IllegalStateException(
            "The coalescing block of group \"" + group + "\" is not closed yet");
      }
      if (works.isEmpty()) {
        throw new IllegalStateException(
            "No operation was begun in the coalescing block of group \"" + group + "\"");
      }
      return new CombinedWork(works);
    }
  }
}
