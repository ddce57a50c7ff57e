package org.sparkcollectives.internal.algorithm;

import static org.sparkcollectives.internal.algorithm.Contributions.values;

import org.sparkcollectives.OpType;

/** The contract of broadcasts. */
abstract class BroadcastContract extends MessageAlgorithmContract<Call.Broadcast> {

  BroadcastContract() {
    super(OpType.BROADCAST);
  }

  @Override
  final Call.Broadcast call(Group group, int rank) {
    return new Call.Broadcast(Contributions.of(group.dtype(), rank, group.count()), group.root());
  }

  @Override
  final float[] result(Call.Broadcast call) {
    return values(call.tensor());
  }

  @Override
  final float[] expected(Group group, int rank) {
    return values(Contributions.of(group.dtype(), group.root(), group.count()));
  }
}
