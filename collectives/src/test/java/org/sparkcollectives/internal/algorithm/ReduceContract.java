package org.sparkcollectives.internal.algorithm;

import static org.sparkcollectives.internal.algorithm.Contributions.values;

import org.sparkcollectives.OpType;
import org.sparkcollectives.ReduceOp;

/** The contract of reduces to a root. The tensors of the other ranks keep their elements. */
abstract class ReduceContract extends MessageAlgorithmContract<Call.Reduce> {

  ReduceContract() {
    super(OpType.REDUCE);
  }

  @Override
  final Call.Reduce call(Group group, int rank) {
    return Call.reduce(
        Contributions.of(group.dtype(), rank, group.count()), ReduceOp.SUM, group.root());
  }

  @Override
  final float[] result(Call.Reduce call) {
    return values(call.tensor());
  }

  @Override
  final float[] expected(Group group, int rank) {
    return rank == group.root()
        ? Contributions.sum(group.ranks(), 0, group.count())
        : values(Contributions.of(group.dtype(), rank, group.count()));
  }
}
