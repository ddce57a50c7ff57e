package org.sparkcollectives.zero;

import org.sparkcollectives.ProcessGroup;

/** A sharded optimizer that averages the gradients of a model, on one rank. */
final class ZeroTraining {

  final SharedModel model = new SharedModel();
  final AdamOptimizer adam;
  final ZeroRedundancyOptimizer zero;
  private final ProcessGroup group;
  private int step;

  ZeroTraining(ProcessGroup group, AdamOptions options) {
    this.group = group;
    this.adam = new AdamOptimizer(options);
    this.zero =
        ZeroRedundancyOptimizer.create(group, model.parameters(), adam, ZeroOptions.defaults());
  }

  void steps(int count) {
    for (int end = step + count; step < end; step++) {
      for (int i = 0; i < model.parameters().size(); i++) {
        zero.gradient(i).copyFrom(model.gradient(i, step, group.rank()));
      }
      zero.step();
    }
  }
}
