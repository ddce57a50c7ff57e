package org.sparkcollectives.internal.debug;

import java.time.Duration;
import java.util.List;
import java.util.OptionalDouble;
import java.util.concurrent.CompletableFuture;
import org.sparkcollectives.OpType;
import org.sparkcollectives.SparseTensor;
import org.sparkcollectives.Tensor;
import org.sparkcollectives.Work;
import org.sparkcollectives.WorkResult;

/**
 * An operation that was done when it was called.
 *
 * @param opType the operation
 * @param sequenceNumber its number
 * @param outputs the tensors that it would have written
 * @param source the rank that a receive would be from; -1 of other operations
 * @param sparseSum of an all-reduce of sparse tensors; else null
 */
record FakeWork(
    OpType opType, long sequenceNumber, List<Tensor> outputs, int source, SparseTensor sparseSum)
    implements Work {

  @Override
  public void await() {}

  @Override
  public boolean await(Duration timeout) {
    return true;
  }

  @Override
  public boolean isCompleted() {
    return true;
  }

  @Override
  public boolean isSuccess() {
    return true;
  }

  @Override
  public Throwable exception() {
    return null;
  }

  @Override
  public CompletableFuture<List<Tensor>> future() {
    return CompletableFuture.completedFuture(outputs);
  }

  @Override
  public CompletableFuture<WorkResult> result() {
    return CompletableFuture.completedFuture(WorkResult.SUCCESS);
  }

  @Override
  public int sourceRank() {
    if (source < 0) {
      throw new IllegalStateException("Only a receive has a source, not " + this);
    }
    return source;
  }

  @Override
  public SparseTensor sparseResult() {
    if (sparseSum == null) {
      throw new IllegalStateException(
          "Only an all-reduce of sparse tensors has a sparse result, not " + this);
    }
    return sparseSum;
  }

  @Override
  public OptionalDouble durationMillis() {
    return OptionalDouble.of(0);
  }

  @Override
  public String toString() {
    return opType.label() + " #" + sequenceNumber;
  }
}
