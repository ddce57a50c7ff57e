package org.sparkcollectives.internal.transport.shm;

import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import java.util.function.Supplier;
import org.sparkcollectives.DType;
import org.sparkcollectives.OpType;
import org.sparkcollectives.ReduceOp;
import org.sparkcollectives.internal.transport.GroupMemory;
import org.sparkcollectives.internal.transport.OperationHeader;
import org.sparkcollectives.internal.transport.SharedRegion;
import org.sparkcollectives.internal.transport.SharedSlots;
import org.sparkcollectives.internal.transport.SharedStaging;
import org.sparkcollectives.spi.tensor.HostTensor;

/**
 * The memory of a host whose ranks are in several JVMs.
 *
 * <p>An operation that multiplies first cannot use it: what it publishes would be a copy, or would
 * change after the ranks have agreed on it.
 *
 * @param shared what they share
 */
public record ShmMemory(ShmRegion shared) implements GroupMemory {

  private static final Set<OpType> STAGED =
      EnumSet.of(OpType.ALL_REDUCE, OpType.ALL_REDUCE_COALESCED);

  /** Operations in which a rank publishes a tensor for each rank. */
  private static final Set<OpType> IN_PARTS =
      EnumSet.of(
          OpType.REDUCE_SCATTER_INTO,
          OpType.REDUCE_SCATTER,
          OpType.SCATTER,
          OpType.ALL_TO_ALL_INTO,
          OpType.ALL_TO_ALL);

  @Override
  public Access open(Supplier<List<HostTensor>> published) {
    OperationHeader header = shared.inOperation();
    if (header.reduction() == ReduceOp.Kind.PREMUL_SUM) {
      return Access.NONE;
    }
    if (shared.slotsFor(header) != null) {
      return Access.SLOTS;
    }
    if (shared.regionFor(header, published.get()) != null) {
      return Access.SHARED_TENSORS;
    }
    return STAGED.contains(header.type()) && shared.stagingFor(header) != null
        ? Access.STAGING
        : Access.NONE;
  }

  @Override
  public Access expected(OpType type, long bytes, boolean allocated) {
    if (shared.isRefused()) {
      return Access.NONE;
    }
    if (bytes <= SharedSlots.MOST_BYTES) {
      return ShmRegion.AGREED.contains(type) ? Access.SLOTS : Access.NONE;
    }
    if (allocated && shared.canPublish(IN_PARTS.contains(type) ? shared.size() : 1)) {
      return Access.SHARED_TENSORS;
    }
    return STAGED.contains(type) && shared.stages() ? Access.STAGING : Access.NONE;
  }

  @Override
  public boolean sees(List<HostTensor> tensors) {
    return shared.sees(tensors);
  }

  @Override
  public SharedSlots slots() {
    return shared.slotsFor(shared.inOperation());
  }

  @Override
  public SharedRegion region() {
    return shared;
  }

  @Override
  public SharedStaging staging() {
    return shared.stagingFor(shared.inOperation());
  }

  @Override
  public HostTensor publishable(DType dtype, long count, Supplier<HostTensor> anywhere) {
    return shared.publishable(dtype, count);
  }
}
