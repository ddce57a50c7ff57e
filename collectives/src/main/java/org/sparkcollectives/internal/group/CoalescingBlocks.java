package org.sparkcollectives.internal.group;

import java.util.ArrayList;
import java.util.List;
import org.sparkcollectives.Coalescing;
import org.sparkcollectives.Work;
import org.sparkcollectives.internal.work.RunAll;
import org.sparkcollectives.spi.Backend;

/** The blocks of operations that threads have opened in a group, at most one for each thread. */
final class CoalescingBlocks {

  private final String group;

  @SuppressWarnings("ThreadLocalUsage") // A thread may be in blocks of several groups.
  private final ThreadLocal<Block> current = new ThreadLocal<>();

  CoalescingBlocks(String group) {
    this.group = group;
  }

  /**
   * Opens a block on the calling thread, of operations that any of {@code backends} may carry out.
   */
  Coalescing open(List<Backend> backends) {
    Block before = current.get();
    if (before != null && before.isOpen()) {
      throw new IllegalStateException(
          "A coalescing block of group \"" + group + "\" is open already on this thread");
    }
    Block block = new Block(backends.stream().map(Backend::beginCoalescing).toList());
    current.set(block);
    return block;
  }

  /** Adds a work to this thread's block, if there is one. */
  Work begun(Work work) {
    Block block = current.get();
    if (block != null) {
      block.add(work);
    }
    return work;
  }

  /** A block, which a thread other than its own may close. */
  private final class Block implements Coalescing {
    private final List<Work> works = new ArrayList<>();
    private final List<Runnable> ends;
    private boolean closed;

    Block(List<Runnable> ends) {
      this.ends = ends;
    }

    synchronized boolean isOpen() {
      return !closed;
    }

    /** Adds a work to the block, unless another thread has closed it meanwhile. */
    synchronized void add(Work work) {
      if (!closed) {
        works.add(work);
      }
    }

    @Override
    public void close() {
      synchronized (this) {
        if (closed) {
          return;
        }
        closed = true;
      }
      if (current.get() == this) {
        current.remove();
      }
      RunAll.of(ends);
    }

    @Override
    public synchronized Work work() {
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
