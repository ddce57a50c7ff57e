package org.sparkcollectives.recorder;

import java.util.Arrays;
import java.util.List;
import org.sparkcollectives.Tensor;

/**
 * The shapes of the tensors of a call, without the tensors. Immutable.
 *
 * <p>Of a list of more than {@value #MOST_TENSORS} tensors it has the sum of their counts alone: in
 * a large group each record would take more memory than the operation.
 */
public final class RecordedShapes {

  static final int MOST_TENSORS = 64;

  private static final long[][] NOTHING = {};
  private static final RecordedShapes NONE = new RecordedShapes(NOTHING, NOTHING);

  private final long[][] inputs;
  private final long[][] outputs;

  private RecordedShapes(long[][] inputs, long[][] outputs) {
    this.inputs = inputs;
    this.outputs = outputs;
  }

  /** Returns those of a call without tensors. */
  public static RecordedShapes none() {
    return NONE;
  }

  /** Returns those of a call on one tensor, in place. */
  public static RecordedShapes inPlace(Tensor tensor) {
    long[][] shape = {tensor.shape()};
    return new RecordedShapes(shape, shape);
  }

  /** Returns those of a call on several tensors, in place. */
  public static RecordedShapes inPlace(List<? extends Tensor> tensors) {
    long[][] shapes = shapes(tensors);
    return new RecordedShapes(shapes, shapes);
  }

  /** Returns those of a call. */
  public static RecordedShapes of(List<? extends Tensor> inputs, List<? extends Tensor> outputs) {
    return new RecordedShapes(shapes(inputs), shapes(outputs));
  }

  /** Returns one dimension each, for a call of which the counts alone are known. */
  public static RecordedShapes ofCounts(long inputCount, long outputCount) {
    return new RecordedShapes(shape(inputCount), shape(outputCount));
  }

  private static long[][] shape(long count) {
    return count == 0 ? NOTHING : new long[][] {{count}};
  }

  private static long[][] shapes(List<? extends Tensor> tensors) {
    if (tensors.size() > MOST_TENSORS) {
      return shape(tensors.stream().mapToLong(Tensor::count).sum());
    }
    long[][] shapes = new long[tensors.size()][];
    for (int i = 0; i < shapes.length; i++) {
      shapes[i] = tensors.get(i).shape();
    }
    return shapes;
  }

  /** Returns the shape of each tensor that was given. */
  List<List<Long>> inputs() {
    return lists(inputs);
  }

  /** Returns the shape of each tensor that was expected. */
  List<List<Long>> outputs() {
    return lists(outputs);
  }

  private static List<List<Long>> lists(long[][] shapes) {
    return Arrays.stream(shapes).map(each -> Arrays.stream(each).boxed().toList()).toList();
  }
}
