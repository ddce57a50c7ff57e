package org.sparkcollectives.internal.group;

import java.time.Duration;
import java.util.List;
import java.util.OptionalDouble;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import org.sparkcollectives.DeviceStream;
import org.sparkcollectives.OpType;
import org.sparkcollectives.Tensor;
import org.sparkcollectives.Work;
import org.sparkcollectives.WorkResult;

/**
 * Several works as one, which has ended when all have: until then their tensors are in use, though
 * one of them has failed.
 */
final class CombinedWork implements Work {

  private final List<Work> works;

  CombinedWork(List<Work> works) {
    this.works = List.copyOf(works);
  }

  @Override
  public void await() {
    forEach(Work::await);
  }

  @Override
  public boolean await(Duration timeout) {
    long start = System.nanoTime();
    for (Work work : works) {
      Duration left = timeout.minusNanos(System.nanoTime() - start);
      if (!awaitEnd(work, left.isNegative() ? Duration.ZERO : left)) {
        return false;
      }
    }
    await();
    return true;
  }

  /** Waits for the end of a work, whatever it is; throws only if the wait ends before. */
  private static boolean awaitEnd(Work work, Duration atMost) {
    try {
      return work.await(atMost);
    } catch (RuntimeException e) {
      if (!work.isCompleted()) {
        throw e;
      }
      return true;
    }
  }

  /**
   * Does this for each work, for all of them though one has failed, and throws what the first of
   * those threw. A wait that ends before its work does, as by an interrupt, ends all.
   */
  private void forEach(Consumer<Work> action) {
    RuntimeException first = null;
    for (Work work : works) {
      try {
        action.accept(work);
      } catch (RuntimeException e) {
        if (!work.isCompleted()) {
          throw e;
        }
        first = first == null ? e : first;
      }
    }
    if (first != null) {
      throw first;
    }
  }

  @Override
  public boolean isCompleted() {
    return works.stream().allMatch(Work::isCompleted);
  }

  @Override
  public boolean isSuccess() {
    return works.stream().allMatch(Work::isSuccess);
  }

  @Override
  public Throwable exception() {
    return works.stream()
        .map(Work::exception)
        .filter(each -> each != null)
        .findFirst()
        .orElse(null);
  }

  @Override
  public CompletableFuture<List<Tensor>> future() {
    List<CompletableFuture<List<Tensor>>> futures = works.stream().map(Work::future).toList();
    return CompletableFuture.allOf(futures.toArray(CompletableFuture<?>[]::new))
        .thenApply(nothing -> futures.stream().flatMap(each -> each.join().stream()).toList());
  }

  @Override
  public CompletableFuture<WorkResult> result() {
    return future().handle((tensors, thrown) -> WorkResult.of(exception()));
  }

  @Override
  public OpType opType() {
    return OpType.COALESCED;
  }

  /** Returns the number of the first. */
  @Override
  public long sequenceNumber() {
    return works.get(0).sequenceNumber();
  }

  @Override
  public int sourceRank() {
    throw new IllegalStateException("Only a receive has a source rank, and this is several works");
  }

  @Override
  public void synchronize(DeviceStream stream) {
    forEach(each -> each.synchronize(stream));
  }

  /** Returns the time of the slowest. */
  @Override
  public OptionalDouble durationMillis() {
    return isCompleted()
        ? works.stream().mapToDouble(each -> each.durationMillis().orElse(0)).max()
        : OptionalDouble.empty();
  }
}
