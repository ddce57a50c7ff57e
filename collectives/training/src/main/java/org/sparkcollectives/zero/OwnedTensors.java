package org.sparkcollectives.zero;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.sparkcollectives.DType;
import org.sparkcollectives.PersistentCollective;
import org.sparkcollectives.ProcessGroup;
import org.sparkcollectives.ReduceOp;
import org.sparkcollectives.Tensor;
import org.sparkcollectives.Work;
import org.sparkcollectives.ddp.Parameter;

/**
 * Tensors for all parameters of one type, in one piece of memory that is ordered by their owners,
 * so that each rank's share is one block of it.
 */
final class OwnedTensors {

  private final ProcessGroup group;
  private final List<Tensor> blocks = new ArrayList<>();
  private final Map<Integer, Tensor> views = new HashMap<>();

  // Prepared when they are first used: the memory is the same in each step.
  private PersistentCollective gather;
  private PersistentCollective mean;
  private ReduceOp meanBy;

  OwnedTensors(
      ProcessGroup group, DType type, List<Parameter> parameters, ZeroPartition partition) {
    this.group = group;
    long count =
        parameters.stream()
            .map(Parameter::value)
            .filter(each -> each.dtype() == type)
            .mapToLong(Tensor::count)
            .sum();
    Tensor memory = group.allocate(type, count);
    long offset = 0;
    for (int rank = 0; rank < partition.ranks(); rank++) {
      long begin = offset;
      for (int i : partition.ownedBy(rank)) {
        Tensor value = parameters.get(i).value();
        if (value.dtype() == type) {
          views.put(i, memory.slice(offset, value.count()).reshape(value.shape()));
          offset += value.count();
        }
      }
      blocks.add(memory.slice(begin, offset - begin));
    }
  }

  /** Returns the part of a parameter; null if it is of another type. */
  Tensor view(int parameter) {
    return views.get(parameter);
  }

  /** Returns this rank's block. */
  Tensor own() {
    return blocks.get(group.rank());
  }

  /**
   * Begins the reduction of each block on its owner, which {@link #finishMean} turns into the sum
   * divided by {@code divisor}.
   */
  Work beginMean(int divisor) {
    ReduceOp op = reduction(divisor);
    if (!op.equals(meanBy)) {
      mean = group.reduceScatterInit(own(), blocks, op);
      meanBy = op;
    }
    return mean.start();
  }

  private ReduceOp reduction(int divisor) {
    if (divisor == group.size()) {
      return ReduceOp.AVG;
    }
    // A sum is divided once, at its end. Halves have no room for it.
    return dividesAtEnd() ? ReduceOp.SUM : ReduceOp.premulSum(1.0 / divisor);
  }

  private boolean dividesAtEnd() {
    return own().dtype() == DType.FLOAT32 || own().dtype() == DType.FLOAT64;
  }

  /** Divides this rank's block, once the reduction is done. */
  void finishMean(int divisor) {
    if (divisor != group.size() && dividesAtEnd()) {
      Tiles.divide(own(), divisor);
    }
  }

  /** Begins sending each owner's block to all ranks. */
  Work gatherFromOwners() {
    if (gather == null) {
      gather = group.allGatherInit(blocks, own());
    }
    return gather.start();
  }
}
