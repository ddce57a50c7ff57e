package org.sparkcollectives.ddp;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Executor;
import org.sparkcollectives.ProcessGroup;
import org.sparkcollectives.Tensor;

/** A bucket whose gradients lie in another buffer, of another type. */
final class ConvertedBucket implements GradientBucket {

  private final GradientBucket original;
  private Tensor buffer;

  ConvertedBucket(GradientBucket original, Tensor buffer) {
    this.original = original;
    this.buffer = buffer;
  }

  /** Returns views of a flat buffer, with the shapes of a bucket's gradients. */
  static List<Tensor> views(GradientBucket bucket, Tensor buffer) {
    List<Tensor> views = new ArrayList<>();
    long offset = 0;
    for (Tensor each : bucket.gradients()) {
      views.add(buffer.slice(offset, each.count()).reshape(each.shape()));
      offset += each.count();
    }
    return views;
  }

  /**
   * Checks what a hook gives back.
   *
   * @throws IllegalStateException if it is null, or has not the type and the count of the bucket
   */
  static Tensor check(GradientBucket bucket, Tensor result) {
    Tensor buffer = bucket.buffer();
    if (result == null || result.dtype() != buffer.dtype() || result.count() != buffer.count()) {
      throw new IllegalStateException(
          "On rank "
              + bucket.group().rank()
              + ", the inner communication hook gave "
              + result
              + " back for bucket "
              + bucket.index()
              + ", and must give back the type and the count of its buffer, "
              + buffer);
    }
    return result;
  }

  @Override
  public int index() {
    return original.index();
  }

  @Override
  public boolean isLast() {
    return original.isLast();
  }

  @Override
  public long step() {
    return original.step();
  }

  @Override
  public double divisor() {
    return original.divisor();
  }

  @Override
  public ProcessGroup group() {
    return original.group();
  }

  @Override
  public Executor executor() {
    return original.executor();
  }

  @Override
  public Tensor buffer() {
    return buffer;
  }

  @Override
  public void setBuffer(Tensor replacement) {
    if (replacement.dtype() != buffer.dtype() || replacement.count() != buffer.count()) {
      throw new IllegalArgumentException(
          "The buffer of bucket "
              + index()
              + ", "
              + buffer
              + ", cannot be "
              + replacement
              + ": type and count must be equal");
    }
    buffer = replacement.reshape(replacement.count());
  }

  @Override
  public List<Tensor> gradients() {
    return views(original, buffer);
  }

  @Override
  public int[] parameters() {
    return original.parameters();
  }

  @Override
  public List<Tensor> values() {
    return original.values();
  }
}
