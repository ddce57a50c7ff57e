package org.sparkcollectives.ddp;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.function.IntConsumer;
import org.sparkcollectives.DType;
import org.sparkcollectives.ProcessGroup;
import org.sparkcollectives.Tensor;

/**
 * The memory of all buckets, one allocation of the group for each type, and where each gradient
 * lies in it. New buckets are laid into the same memory.
 */
final class GradientMemory {

  private final ProcessGroup group;
  private final List<Parameter> parameters;
  private final boolean allViews;
  private final IntConsumer relocation;
  private final Map<DType, Tensor> memory = new EnumMap<>(DType.class);
  private final ReducerBucket[] bucketOf;
  private final Tensor[] places;
  private List<ReducerBucket> buckets = List.of();

  GradientMemory(ProcessGroup group, List<Parameter> parameters, ReducerOptions options) {
    this.group = group;
    this.parameters = parameters;
    this.allViews = options.gradientAsBucketView();
    this.relocation = options.relocation();
    this.bucketOf = new ReducerBucket[parameters.size()];
    this.places = new Tensor[parameters.size()];
    Map<DType, Long> counts = new EnumMap<>(DType.class);
    for (Parameter parameter : parameters) {
      if (!parameter.sparse()) {
        // One element more, because any type may have the last bucket.
        counts.merge(parameter.value().dtype(), parameter.value().count(), Long::sum);
      }
    }
    counts.forEach((type, count) -> memory.put(type, group.allocate(type, count + 1)));
  }

  /** Lays new buckets into the memory. What the views hold moves with them; new ones hold zeros. */
  void arrange(List<int[]> plan) {
    Tensor[] contents = new Tensor[parameters.size()];
    for (int i = 0; i < contents.length; i++) {
      contents[i] = isView(i) && places[i] != null ? copyOf(places[i]) : null;
    }
    Map<DType, Long> ends = new EnumMap<>(DType.class);
    List<ReducerBucket> arranged = new ArrayList<>();
    for (int[] positions : plan) {
      arranged.add(lay(positions, arranged.size() == plan.size() - 1, arranged.size(), ends));
    }
    buckets = List.copyOf(arranged);
    for (int i = 0; i < contents.length; i++) {
      if (contents[i] != null) {
        places[i].copyFrom(contents[i]);
      }
    }
  }

  /** Tells the engine that all views are in other memory. */
  void tellOfRelocation() {
    for (int i = 0; i < places.length; i++) {
      if (isView(i)) {
        relocation.accept(i);
      }
    }
  }

  /** Copies the gradients that the parameters have brought into their views. */
  void adopt() {
    for (int i = 0; i < places.length; i++) {
      if (isView(i) && parameters.get(i).gradient() != null) {
        places[i].copyFrom(parameters.get(i).gradient());
      }
    }
  }

  /** Returns a copy in the heap. */
  static Tensor copyOf(Tensor tensor) {
    Tensor copy = Tensor.allocate(tensor.dtype(), tensor.count());
    copy.copyFrom(tensor);
    return copy;
  }

  private ReducerBucket lay(int[] positions, boolean last, int index, Map<DType, Long> ends) {
    List<Tensor> values = Arrays.stream(positions).mapToObj(i -> value(i)).toList();
    boolean sparse = parameters.get(positions[0]).sparse();
    ReducerBucket bucket =
        new ReducerBucket(
            group,
            new ReducerBucket.Position(index, last),
            positions,
            values,
            sparse ? null : next(values, last, ends));
    for (int i = 0; i < positions.length; i++) {
      bucketOf[positions[i]] = bucket;
      places[positions[i]] = sparse ? null : bucket.place(bucket.reduced(), i);
    }
    return bucket;
  }

  private Tensor next(List<Tensor> values, boolean last, Map<DType, Long> ends) {
    DType type = values.get(0).dtype();
    long begin = ends.getOrDefault(type, 0L);
    long count = values.stream().mapToLong(Tensor::count).sum();
    ends.put(type, begin + count);
    return memory.get(type).slice(begin, last ? count + 1 : count);
  }

  private Tensor value(int parameter) {
    return parameters.get(parameter).value();
  }

  List<ReducerBucket> buckets() {
    return buckets;
  }

  ReducerBucket bucketOf(int parameter) {
    return bucketOf[parameter];
  }

  ReducerBucket last() {
    return buckets.get(buckets.size() - 1);
  }

  /** Returns whether the engine adds to the bucket itself. */
  boolean isView(int parameter) {
    Parameter of = parameters.get(parameter);
    return !of.sparse() && (allViews || of.gradient() == null);
  }

  /** Returns where a dense gradient lies in its bucket. */
  Tensor place(int parameter) {
    return places[parameter];
  }

  /** Returns where the engine adds a dense gradient. */
  Tensor gradient(int parameter) {
    return isView(parameter) ? places[parameter] : parameters.get(parameter).gradient();
  }

  /** Copies a dense gradient into its bucket. */
  void collect(int parameter) {
    if (!isView(parameter)) {
      places[parameter].copyFrom(parameters.get(parameter).gradient());
    }
  }

  /** Copies a dense gradient out of its bucket. */
  void distribute(int parameter) {
    if (!isView(parameter)) {
      parameters.get(parameter).gradient().copyFrom(places[parameter]);
    }
  }
}
