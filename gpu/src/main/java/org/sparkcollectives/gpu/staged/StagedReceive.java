package org.sparkcollectives.gpu.staged;

import java.time.Duration;
import java.util.List;
import java.util.OptionalDouble;
import java.util.concurrent.CompletableFuture;
import org.sparkcollectives.OpType;
import org.sparkcollectives.Tensor;
import org.sparkcollectives.Work;
import org.sparkcollectives.WorkResult;

/** A message that is received in host memory, then copied to the GPU. */
final class StagedReceive implements Work {

  private final Work host;
  private final Work copied;

  /**
   * Of a receive and what comes of it.
   *
   * @param copied done when the tensor on the GPU is
   */
  StagedReceive(Work host, CompletableFuture<List<Tensor>> copied) {
    this.host = host;
    this.copied = Work.of(host.opType(), host.sequenceNumber(), copied);
  }

  /** An interrupt during the receive aborts the group; the copy after it is short. */
  @Override
  public void await() {
    host.await();
    copied.await();
  }

  @Override
  public boolean await(Duration timeout) {
    long begin = System.nanoTime();
    if (!host.await(timeout)) {
      return false;
    }
    Duration left = timeout.minusNanos(System.nanoTime() - begin);
    return copied.await(left.isNegative() ? Duration.ZERO : left);
  }

  @Override
  public boolean isCompleted() {
    return copied.isCompleted();
  }

  @Override
  public boolean isSuccess() {
    return copied.isSuccess();
  }

  @Override
  public Throwable exception() {
    return copied.exception();
  }

  @Override
  public CompletableFuture<List<Tensor>> future() {
    return copied.future();
  }

  @Override
  public CompletableFuture<WorkResult> result() {
    return copied.result();
  }

  @Override
  public OpType opType() {
    return host.opType();
  }

  @Override
  public long sequenceNumber() {
    return host.sequenceNumber();
  }

  @Override
  public int sourceRank() {
    return host.sourceRank();
  }

  @Override
  public OptionalDouble durationMillis() {
    return copied.durationMillis();
  }

  @Override
  public String toString() {
    return host.toString();
  }
}
