package org.sparkcollectives.internal.transport;

import java.util.List;
import java.util.function.Supplier;
import org.sparkcollectives.DType;
import org.sparkcollectives.OpType;
import org.sparkcollectives.spi.tensor.HostTensor;

/**
 * Memory that all ranks of a group see. Each operation first asks how it can use it, and then uses
 * only what the answer names.
 *
 * <p>Only the thread that runs the group's current operation may use it, except for {@link
 * #expected} and {@link #sees}.
 */
public interface GroupMemory {

  /** The use that an operation can make of its group's memory. */
  enum Access {
    /** Not at all: the ranks send messages. */
    NONE,
    /** The data of each rank fits into its slot. */
    SLOTS,
    /** All ranks work on tensors that lie in memory of the host which all of them see. */
    SHARED_TENSORS,
    /** Tensors that lie elsewhere pass through staging buffers, chunk by chunk. */
    STAGING,
    /** All ranks are in one JVM and see each other's tensors, wherever they lie. */
    HEAP;

    /** Returns whether ranks can read each other's tensors where they lie. */
    public boolean isRegion() {
      return this == SHARED_TENSORS || this == HEAP;
    }
  }

  /** The memory of ranks that see none in common. */
  GroupMemory NONE = new GroupMemory() {};

  /**
   * Finds how the current operation can use the memory. All ranks ask once in the operation, or
   * none does; they get the same answer. May block until all ranks ask.
   *
   * <p>Where the answer depends on where all ranks' tensors lie, as between processes, asking
   * publishes them, and {@link SharedRegion#publish} then returns at once: a question of its own
   * would cost each operation a second wait for all ranks.
   *
   * @param published the tensors that this rank would publish in the {@link #region}
   */
  default Access open(Supplier<List<HostTensor>> published) {
    return Access.NONE;
  }

  /**
   * Predicts what {@link #open} will return. Does not block, and may be called on any thread.
   *
   * @param bytes the size on which all ranks agree; 0 where they do not know it
   * @param allocated whether all ranks work on tensors that the group has allocated, as {@link
   *     #sees} says
   */
  default Access expected(OpType type, long bytes, boolean allocated) {
    return Access.NONE;
  }

  /**
   * Returns whether these tensors of this rank lie in memory that the group has allocated, and that
   * all ranks see. Does not block, and may be called on any thread.
   */
  default boolean sees(List<HostTensor> tensors) {
    return false;
  }

  /** Returns the slots, in an operation that has {@link Access#SLOTS}. */
  default SharedSlots slots() {
    throw new IllegalStateException("the ranks have no slots in this operation");
  }

  /** Returns the region, in an operation whose access {@link Access#isRegion}. */
  default SharedRegion region() {
    throw new IllegalStateException("the ranks see no memory in common in this operation");
  }

  /** Returns the staging buffers, in an operation that has {@link Access#STAGING}. */
  default SharedStaging staging() {
    throw new IllegalStateException("the ranks have no staging buffers in this operation");
  }

  /**
   * Returns memory with undefined contents that this rank can publish in the current operation
   * beside the tensors that it shares, the same each time.
   *
   * @param anywhere gives such memory where any will do
   */
  default HostTensor publishable(DType dtype, long count, Supplier<HostTensor> anywhere) {
    return anywhere.get();
  }
}
