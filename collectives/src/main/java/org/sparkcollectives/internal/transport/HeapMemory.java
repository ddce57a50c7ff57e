package org.sparkcollectives.internal.transport;

import java.util.List;
import java.util.function.Supplier;
import org.sparkcollectives.OpType;
import org.sparkcollectives.spi.tensor.HostTensor;

/**
 * The heap that the ranks of one JVM share: they see each other's tensors in every operation. Apart
 * from the region, because a group may use a region for one of its phases only.
 *
 * @param region the whole operation's, or that of a phase
 */
public record HeapMemory(SharedRegion region) implements GroupMemory {

  @Override
  public Access open(Supplier<List<HostTensor>> published) {
    return Access.HEAP;
  }

  @Override
  public Access expected(OpType type, long bytes, boolean allocated) {
    return Access.HEAP;
  }
}
