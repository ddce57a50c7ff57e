package org.sparkcollectives.ddp;

import java.util.Arrays;
import java.util.BitSet;
import java.util.List;
import org.sparkcollectives.ProcessGroup;
import org.sparkcollectives.SparseTensor;
import org.sparkcollectives.Tensor;

/** Refuses what a reducer's methods cannot work with, and says on which rank. */
record ReducerChecks(ProcessGroup group, List<Parameter> parameters) {

  String rank() {
    return "rank " + group.rank() + " of group \"" + group.name() + "\"";
  }

  /** Returns a parameter for messages, such as {@code parameter 2 ("bias")}. */
  String named(int parameter) {
    return new StepFailure(parameters).named(parameter);
  }

  void parameter(String operation, int parameter) {
    if (parameter < 0 || parameter >= parameters.size()) {
      throw new IllegalArgumentException(
          operation
              + " on "
              + rank()
              + ": there is no parameter "
              + parameter
              + ", only 0 to "
              + (parameters.size() - 1));
    }
  }

  void unused(BitSet unused, ReducerOptions options) {
    if (!options.findUnused()) {
      throw new IllegalArgumentException(
          "beginBackward on "
              + rank()
              + ": the parameters "
              + unused
              + " cannot be unused without ReducerOptions.withFindUnused(true)");
    }
  }

  void dense(String operation, int parameter) {
    kind(operation, parameter, false);
  }

  void sparse(String operation, int parameter) {
    kind(operation, parameter, true);
  }

  private void kind(String operation, int parameter, boolean sparse) {
    parameter(operation, parameter);
    if (parameters.get(parameter).sparse() != sparse) {
      throw new IllegalArgumentException(
          operation
              + " on "
              + rank()
              + " is for "
              + (sparse ? "sparse" : "dense")
              + " gradients, and not for "
              + named(parameter)
              + (sparse ? ", which has dense ones" : ", which has sparse ones"));
    }
  }

  void fits(int parameter, SparseTensor gradient) {
    Tensor value = parameters.get(parameter).value();
    if (gradient.values().dtype() != value.dtype()
        || gradient.sparseDimensions() != 1
        || !Arrays.equals(gradient.shape(), value.shape())) {
      throw new IllegalArgumentException(
          "markReady on "
              + rank()
              + ": the gradient "
              + gradient
              + " with "
              + gradient.sparseDimensions()
              + " sparse dimensions does not fit to "
              + named(parameter)
              + ", "
              + value
              + ": it needs the same type and shape and 1 sparse dimension");
    }
  }

  void rows(double rows, ReducerOptions options) {
    if (!(rows >= 0) || Double.isInfinite(rows)) {
      throw new IllegalArgumentException(
          "setWeight on " + rank() + ": a step has 0 rows or more, not " + rows);
    }
    if (!options.weightedMean()) {
      throw new IllegalStateException(
          "setWeight on " + rank() + " needs ReducerOptions.withWeightedMean(true)");
    }
  }

  /** Refuses an operation for which the reducer is in the wrong state. */
  void state(boolean holds, String operation, String reason) {
    if (!holds) {
      throw new IllegalStateException(operation + " on " + rank() + ": " + reason);
    }
  }
}
