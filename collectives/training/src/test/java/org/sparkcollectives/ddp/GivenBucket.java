package org.sparkcollectives.ddp;

import java.util.Arrays;
import java.util.List;
import java.util.stream.IntStream;
import org.sparkcollectives.ProcessGroup;
import org.sparkcollectives.Tensor;

/** A bucket that a test fills, without a reducer. Its parameters are its gradients, from 0. */
final class GivenBucket implements GradientBucket {

  private final ProcessGroup group;
  private final List<long[]> shapes;
  private Tensor buffer;
  private List<Tensor> values = List.of();
  private int index;
  private int firstParameter;
  private boolean last = true;
  private long step;
  private double divisor;

  GivenBucket(ProcessGroup group, Tensor buffer, long[]... shapes) {
    this.group = group;
    this.buffer = buffer;
    this.shapes = shapes.length == 0 ? List.of(new long[] {buffer.count()}) : List.of(shapes);
    this.divisor = group.size();
  }

  GivenBucket withIndex(int value, int buckets) {
    index = value;
    last = value == buckets - 1;
    return this;
  }

  GivenBucket withFirstParameter(int value) {
    firstParameter = value;
    return this;
  }

  GivenBucket withDivisor(double value) {
    divisor = value;
    return this;
  }

  GivenBucket withStep(long value) {
    step = value;
    return this;
  }

  GivenBucket withValues(Tensor... all) {
    values = List.of(all);
    return this;
  }

  @Override
  public int index() {
    return index;
  }

  @Override
  public boolean isLast() {
    return last;
  }

  @Override
  public long step() {
    return step;
  }

  @Override
  public double divisor() {
    return divisor;
  }

  @Override
  public ProcessGroup group() {
    return group;
  }

  @Override
  public Tensor buffer() {
    return buffer;
  }

  @Override
  public void setBuffer(Tensor replacement) {
    buffer = replacement;
  }

  @Override
  public List<Tensor> gradients() {
    long[] offsets = new long[shapes.size() + 1];
    return IntStream.range(0, shapes.size())
        .mapToObj(
            i -> {
              long count = Arrays.stream(shapes.get(i)).reduce(1, (a, b) -> a * b);
              offsets[i + 1] = offsets[i] + count;
              return buffer.slice(offsets[i], count).reshape(shapes.get(i));
            })
        .toList();
  }

  @Override
  public int[] parameters() {
    return IntStream.range(firstParameter, firstParameter + shapes.size()).toArray();
  }

  @Override
  public List<Tensor> values() {
    return values;
  }
}
