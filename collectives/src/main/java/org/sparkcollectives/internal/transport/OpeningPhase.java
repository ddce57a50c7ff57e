package org.sparkcollectives.internal.transport;

import java.util.List;
import org.sparkcollectives.DType;
import org.sparkcollectives.spi.tensor.HostTensor;

/** A region for the first of two phases of an operation, at the end of which nobody waits. */
record OpeningPhase(SharedRegion region) implements SharedRegion {

  @Override
  public int rank() {
    return region.rank();
  }

  @Override
  public int size() {
    return region.size();
  }

  @Override
  public void publish(List<HostTensor> tensors) {
    region.publish(tensors);
  }

  @Override
  public HostTensor publishedBy(int rank, int index, DType dtype, long count) {
    return region.publishedBy(rank, index, dtype, count);
  }

  @Override
  public boolean mayWriteTo(int rank, int index) {
    // Who is written to would have to wait at the end.
    return false;
  }

  @Override
  public void publishProgress(long amount) {
    throw new IllegalStateException(
        "who publishes its progress waits at the end until all have read it");
  }

  @Override
  public long progressOf(int rank) {
    return region.progressOf(rank);
  }

  @Override
  public void awaitProgress(int rank, long amount) {
    region.awaitProgress(rank, amount);
  }

  @Override
  public void check() {
    region.check();
  }

  @Override
  public void finish() {
    region.leave();
  }

  @Override
  public void leave() {
    region.leave();
  }
}
