package org.sparkcollectives.group;

import java.time.Duration;
import java.util.List;
import org.sparkcollectives.Backend;
import org.sparkcollectives.ReduceOp;
import org.sparkcollectives.SparseTensor;
import org.sparkcollectives.Tensor;
import org.sparkcollectives.Work;
import org.sparkcollectives.tensor.HostTensor;
import org.sparkcollectives.tensor.TensorView;

/**
 * The collectives that a user asks a group for: checks what the user gives and has the backend
 * carry them out.
 *
 * @param group whose ranks do them
 * @param backends that carry them out, by the device of the tensors
 * @param arguments checks what the user gives
 * @param timeout of each
 */
record CollectiveRequests(
    RankGroup group, Backends backends, Arguments arguments, Duration timeout) {

  Work broadcast(Tensor tensor, int root) {
    group.requireOpen();
    TensorView own = arguments.tensor("broadcast", "tensor", tensor);
    arguments.root("broadcast", root);
    if (root == group.rank()) {
      numbers("broadcast", "tensor", own);
    }
    return begun(on(own).broadcast(own, root, timeout));
  }

  Work allReduce(Tensor tensor, ReduceOp op) {
    group.requireOpen();
    TensorView own = arguments.tensor("all-reduce", "tensor", tensor);
    arguments.reducible("all-reduce", op, own.dtype());
    numbers("all-reduce", "tensor", own);
    return begun(on(own).allReduce(own, op, timeout));
  }

  Work allReduce(SparseTensor tensor) {
    group.requireOpen();
    arguments.given("all-reduce-sparse", "tensor", tensor);
    TensorView values = arguments.tensor("all-reduce-sparse", "values", tensor.values());
    arguments.tensor("all-reduce-sparse", "indices", tensor.indices());
    arguments.reducible("all-reduce-sparse", ReduceOp.SUM, values.dtype());
    numbers("all-reduce-sparse", "values", values);
    return begun(on(values).allReduce(tensor, timeout));
  }

  Work allReduceCoalesced(List<Tensor> tensors, ReduceOp op) {
    group.requireOpen();
    List<TensorView> all = arguments.tensors("all-reduce-coalesced", "tensors", tensors);
    arguments.sameTypes("all-reduce-coalesced", all, all.get(0));
    arguments.reducible("all-reduce-coalesced", op, all.get(0).dtype());
    numbers("all-reduce-coalesced", "tensors", all);
    return begun(on(all.get(0)).allReduceCoalesced(List.copyOf(all), op, timeout));
  }

  Work reduce(Tensor tensor, ReduceOp op, int root) {
    group.requireOpen();
    TensorView own = arguments.tensor("reduce", "tensor", tensor);
    arguments.reducible("reduce", op, own.dtype());
    arguments.root("reduce", root);
    numbers("reduce", "tensor", own);
    return begun(on(own).reduce(own, op, root, timeout));
  }

  Work allGather(Tensor output, Tensor input) {
    group.requireOpen();
    TensorView to = arguments.tensor("all-gather", "output", output);
    TensorView from = arguments.tensor("all-gather", "input", input);
    arguments.sameType("all-gather", to, from);
    arguments.partForEachRank("all-gather", "output", to, "input", from);
    arguments.apartOrInPlace("all-gather", to, from);
    numbers("all-gather", "input", from);
    return begun(on(to).allGather(to, from, timeout));
  }

  Work allGather(List<Tensor> outputs, Tensor input) {
    group.requireOpen();
    List<TensorView> to = arguments.onePerRank("all-gather", "outputs", outputs);
    TensorView from = arguments.tensor("all-gather", "input", input);
    arguments.sameTypes("all-gather", to, from);
    arguments.ownPart("all-gather", "outputs", to, from);
    arguments.apartOrInPlace("all-gather", to, from);
    numbers("all-gather", "input", from);
    return begun(on(from).allGather(List.copyOf(to), from, timeout));
  }

  Work reduceScatter(Tensor output, Tensor input, ReduceOp op) {
    group.requireOpen();
    TensorView to = arguments.tensor("reduce-scatter", "output", output);
    TensorView from = arguments.tensor("reduce-scatter", "input", input);
    arguments.sameType("reduce-scatter", to, from);
    arguments.reducible("reduce-scatter", op, from.dtype());
    arguments.partForEachRank("reduce-scatter", "input", from, "output", to);
    arguments.apartOrInPlace("reduce-scatter", from, to);
    numbers("reduce-scatter", "input", from);
    return begun(on(to).reduceScatter(to, from, op, timeout));
  }

  Work reduceScatter(Tensor output, List<Tensor> inputs, ReduceOp op) {
    group.requireOpen();
    TensorView to = arguments.tensor("reduce-scatter", "output", output);
    List<TensorView> from = arguments.onePerRank("reduce-scatter", "inputs", inputs);
    arguments.sameTypes("reduce-scatter", from, to);
    arguments.reducible("reduce-scatter", op, to.dtype());
    arguments.ownPart("reduce-scatter", "inputs", from, to);
    arguments.apartOrInPlace("reduce-scatter", from, to);
    numbers("reduce-scatter", "inputs", from);
    return begun(on(to).reduceScatter(to, List.copyOf(from), op, timeout));
  }

  Work gather(List<Tensor> outputs, Tensor input, int root) {
    group.requireOpen();
    arguments.root("gather", root);
    TensorView from = arguments.tensor("gather", "input", input);
    List<TensorView> to = arguments.atRootOnly("gather", "outputs", outputs, root);
    arguments.sameTypes("gather", to, from);
    arguments.ownPartAtRoot("gather", "outputs", to, from);
    arguments.apartOrInPlace("gather", to, from);
    numbers("gather", "input", from);
    return begun(on(from).gather(List.copyOf(to), from, root, timeout));
  }

  Work scatter(Tensor output, List<Tensor> inputs, int root) {
    group.requireOpen();
    arguments.root("scatter", root);
    TensorView to = arguments.tensor("scatter", "output", output);
    List<TensorView> from = arguments.atRootOnly("scatter", "inputs", inputs, root);
    arguments.sameTypes("scatter", from, to);
    arguments.ownPartAtRoot("scatter", "inputs", from, to);
    arguments.apartOrInPlace("scatter", from, to);
    numbers("scatter", "inputs", from);
    return begun(on(to).scatter(to, List.copyOf(from), root, timeout));
  }

  Work allToAll(Tensor output, Tensor input) {
    group.requireOpen();
    TensorView to = arguments.tensor("all-to-all", "output", output);
    TensorView from = arguments.tensor("all-to-all", "input", input);
    arguments.sameType("all-to-all", to, from);
    arguments.equalParts("all-to-all", to, from);
    arguments.apart("all-to-all", List.of(to), List.of(from));
    numbers("all-to-all", "input", from);
    return begun(on(to).allToAll(to, from, timeout));
  }

  Work allToAll(Tensor output, Tensor input, long[] outputSplits, long[] inputSplits) {
    group.requireOpen();
    TensorView to = arguments.tensor("all-to-all", "output", output);
    TensorView from = arguments.tensor("all-to-all", "input", input);
    arguments.sameType("all-to-all", to, from);
    arguments.apart("all-to-all", List.of(to), List.of(from));
    List<TensorView> outputs = arguments.split("all-to-all", "output", to, outputSplits);
    List<TensorView> inputs = arguments.split("all-to-all", "input", from, inputSplits);
    arguments.ownPart("all-to-all", "output's parts", outputs, inputs.get(group.rank()));
    numbers("all-to-all", "input", from);
    return begun(on(to).allToAll(List.copyOf(outputs), List.copyOf(inputs), timeout));
  }

  Work allToAll(List<Tensor> outputs, List<Tensor> inputs) {
    group.requireOpen();
    List<TensorView> to = arguments.onePerRank("all-to-all", "outputs", outputs);
    List<TensorView> from = arguments.onePerRank("all-to-all", "inputs", inputs);
    arguments.sameTypes("all-to-all", to, from.get(0));
    arguments.sameTypes("all-to-all", from, from.get(0));
    arguments.ownPart("all-to-all", "outputs", to, from.get(group.rank()));
    arguments.apart("all-to-all", to, from);
    numbers("all-to-all", "inputs", from);
    return begun(on(from.get(0)).allToAll(List.copyOf(to), List.copyOf(from), timeout));
  }

  Work barrier() {
    group.requireOpen();
    return begun(backends.forBarrier().barrier(timeout));
  }

  private void numbers(String operation, String name, List<TensorView> tensors) {
    for (TensorView tensor : tensors) {
      numbers(operation, name, tensor);
    }
  }

  /** What lies on a device its backend checks there. */
  private void numbers(String operation, String name, TensorView tensor) {
    if (group.nanCheck() && tensor instanceof HostTensor host) {
      arguments.numbers(operation, name, host);
    }
  }

  private Backend on(TensorView tensor) {
    return backends.forDevice(tensor.device().type());
  }

  private Work begun(Work work) {
    return group.coalescing().begun(work);
  }
}
