package org.sparkcollectives.spi;

import java.util.List;
import org.sparkcollectives.DType;
import org.sparkcollectives.Device;
import org.sparkcollectives.OpType;
import org.sparkcollectives.ReduceOp;
import org.sparkcollectives.Tensor;

/** Collects the parts of an {@link OperationSpec}. */
final class OperationDraft {

  final OpType type;
  DType dtype;
  Device.Type device = Device.Type.CPU;
  TensorShapes inputs = TensorShapes.NONE;
  TensorShapes outputs = TensorShapes.NONE;
  TensorShapes agreed = TensorShapes.NONE;
  ReduceOp reduction;
  int root = OperationSpec.NONE;
  int peer = OperationSpec.NONE;
  int tag = OperationSpec.NONE;

  OperationDraft(OpType type) {
    this.type = type;
  }

  OperationDraft inPlace(Tensor tensor) {
    input(tensor);
    outputs = inputs;
    return agreeOnInputs();
  }

  OperationDraft inPlace(List<? extends Tensor> tensors) {
    inputs(tensors);
    outputs = inputs;
    return agreeOnInputs();
  }

  OperationDraft input(Tensor tensor) {
    inputs = TensorShapes.of(tensor);
    return like(tensor);
  }

  OperationDraft output(Tensor tensor) {
    outputs = TensorShapes.of(tensor);
    return like(tensor);
  }

  OperationDraft inputs(List<? extends Tensor> tensors) {
    inputs = TensorShapes.of(tensors);
    return tensors.isEmpty() ? this : like(tensors.get(0));
  }

  OperationDraft outputs(List<? extends Tensor> tensors) {
    outputs = TensorShapes.of(tensors);
    return tensors.isEmpty() ? this : like(tensors.get(0));
  }

  private OperationDraft like(Tensor tensor) {
    dtype = tensor.dtype();
    device = tensor.device().type();
    return this;
  }

  OperationDraft agreeOnInputs() {
    agreed = inputs;
    return this;
  }

  OperationDraft agreeOnOutputs() {
    agreed = outputs;
    return this;
  }

  OperationDraft agreeOnSparse(long[] shape) {
    agreed = TensorShapes.ofSparse(shape);
    return this;
  }

  OperationDraft reduction(ReduceOp op) {
    reduction = op;
    return this;
  }

  OperationDraft root(int rank) {
    root = rank;
    return this;
  }

  OperationDraft message(int rank, int label) {
    peer = rank;
    tag = label;
    return this;
  }

  OperationSpec spec() {
    return new OperationSpec(this);
  }
}
