package org.sparkcollectives.engine;

import java.time.Duration;
import java.util.List;
import org.sparkcollectives.Backend;
import org.sparkcollectives.ReduceOp;
import org.sparkcollectives.SparseTensor;
import org.sparkcollectives.Tensor;
import org.sparkcollectives.Work;
import org.sparkcollectives.tensor.HostTensor;

/**
 * The collectives that a user asks a group for: checks what the user gives and has the backend
 * carry them out.
 *
 * @param group whose ranks do them
 * @param backend that carries them out
 * @param arguments checks what the user gives
 * @param timeout of each
 */
record CollectiveRequests(RankGroup group, Backend backend, Arguments arguments, Duration timeout) {

  Work broadcast(Tensor tensor, int root) {
    group.requireOpen();
    HostTensor host = arguments.tensor("broadcast", "tensor", tensor);
    arguments.root("broadcast", root);
    if (root == group.rank()) {
      numbers("broadcast", "tensor", host);
    }
    return begun(backend.broadcast(host, root, timeout));
  }

  Work allReduce(Tensor tensor, ReduceOp op) {
    group.requireOpen();
    HostTensor host = arguments.tensor("all-reduce", "tensor", tensor);
    arguments.reducible("all-reduce", op, host.dtype());
    numbers("all-reduce", "tensor", host);
    return begun(backend.allReduce(host, op, timeout));
  }

  Work allReduce(SparseTensor tensor) {
    group.requireOpen();
    arguments.given("all-reduce-sparse", "tensor", tensor);
    HostTensor values = arguments.tensor("all-reduce-sparse", "values", tensor.values());
    arguments.tensor("all-reduce-sparse", "indices", tensor.indices());
    arguments.reducible("all-reduce-sparse", ReduceOp.SUM, values.dtype());
    numbers("all-reduce-sparse", "values", values);
    return begun(backend.allReduce(tensor, timeout));
  }

  Work allReduceCoalesced(List<Tensor> tensors, ReduceOp op) {
    group.requireOpen();
    List<HostTensor> hosts = arguments.tensors("all-reduce-coalesced", "tensors", tensors);
    arguments.sameTypes("all-reduce-coalesced", hosts, hosts.get(0));
    arguments.reducible("all-reduce-coalesced", op, hosts.get(0).dtype());
    numbers("all-reduce-coalesced", "tensors", hosts);
    return begun(backend.allReduceCoalesced(List.copyOf(hosts), op, timeout));
  }

  Work reduce(Tensor tensor, ReduceOp op, int root) {
    group.requireOpen();
    HostTensor host = arguments.tensor("reduce", "tensor", tensor);
    arguments.reducible("reduce", op, host.dtype());
    arguments.root("reduce", root);
    numbers("reduce", "tensor", host);
    return begun(backend.reduce(host, op, root, timeout));
  }

  Work allGather(Tensor output, Tensor input) {
    group.requireOpen();
    HostTensor to = arguments.tensor("all-gather", "output", output);
    HostTensor from = arguments.tensor("all-gather", "input", input);
    arguments.sameType("all-gather", to, from);
    arguments.partForEachRank("all-gather", "output", to, "input", from);
    arguments.apartOrInPlace("all-gather", to, from);
    numbers("all-gather", "input", from);
    return begun(backend.allGather(to, from, timeout));
  }

  Work allGather(List<Tensor> outputs, Tensor input) {
    group.requireOpen();
    List<HostTensor> to = arguments.onePerRank("all-gather", "outputs", outputs);
    HostTensor from = arguments.tensor("all-gather", "input", input);
    arguments.sameTypes("all-gather", to, from);
    arguments.ownPart("all-gather", "outputs", to, from);
    arguments.apartOrInPlace("all-gather", to, from);
    numbers("all-gather", "input", from);
    return begun(backend.allGather(List.copyOf(to), from, timeout));
  }

  Work reduceScatter(Tensor output, Tensor input, ReduceOp op) {
    group.requireOpen();
    HostTensor to = arguments.tensor("reduce-scatter", "output", output);
    HostTensor from = arguments.tensor("reduce-scatter", "input", input);
    arguments.sameType("reduce-scatter", to, from);
    arguments.reducible("reduce-scatter", op, from.dtype());
    arguments.partForEachRank("reduce-scatter", "input", from, "output", to);
    arguments.apartOrInPlace("reduce-scatter", from, to);
    numbers("reduce-scatter", "input", from);
    return begun(backend.reduceScatter(to, from, op, timeout));
  }

  Work reduceScatter(Tensor output, List<Tensor> inputs, ReduceOp op) {
    group.requireOpen();
    HostTensor to = arguments.tensor("reduce-scatter", "output", output);
    List<HostTensor> from = arguments.onePerRank("reduce-scatter", "inputs", inputs);
    arguments.sameTypes("reduce-scatter", from, to);
    arguments.reducible("reduce-scatter", op, to.dtype());
    arguments.ownPart("reduce-scatter", "inputs", from, to);
    arguments.apartOrInPlace("reduce-scatter", from, to);
    numbers("reduce-scatter", "inputs", from);
    return begun(backend.reduceScatter(to, List.copyOf(from), op, timeout));
  }

  Work gather(List<Tensor> outputs, Tensor input, int root) {
    group.requireOpen();
    arguments.root("gather", root);
    HostTensor from = arguments.tensor("gather", "input", input);
    List<HostTensor> to = arguments.atRootOnly("gather", "outputs", outputs, root);
    arguments.sameTypes("gather", to, from);
    arguments.ownPartAtRoot("gather", "outputs", to, from);
    arguments.apartOrInPlace("gather", to, from);
    numbers("gather", "input", from);
    return begun(backend.gather(List.copyOf(to), from, root, timeout));
  }

  Work scatter(Tensor output, List<Tensor> inputs, int root) {
    group.requireOpen();
    arguments.root("scatter", root);
    HostTensor to = arguments.tensor("scatter", "output", output);
    List<HostTensor> from = arguments.atRootOnly("scatter", "inputs", inputs, root);
    arguments.sameTypes("scatter", from, to);
    arguments.ownPartAtRoot("scatter", "inputs", from, to);
    arguments.apartOrInPlace("scatter", from, to);
    numbers("scatter", "inputs", from);
    return begun(backend.scatter(to, List.copyOf(from), root, timeout));
  }

  Work allToAll(Tensor output, Tensor input) {
    group.requireOpen();
    HostTensor to = arguments.tensor("all-to-all", "output", output);
    HostTensor from = arguments.tensor("all-to-all", "input", input);
    arguments.sameType("all-to-all", to, from);
    arguments.equalParts("all-to-all", to, from);
    arguments.apart("all-to-all", List.of(to), List.of(from));
    numbers("all-to-all", "input", from);
    return begun(backend.allToAll(to, from, timeout));
  }

  Work allToAll(Tensor output, Tensor input, long[] outputSplits, long[] inputSplits) {
    group.requireOpen();
    HostTensor to = arguments.tensor("all-to-all", "output", output);
    HostTensor from = arguments.tensor("all-to-all", "input", input);
    arguments.sameType("all-to-all", to, from);
    arguments.apart("all-to-all", List.of(to), List.of(from));
    List<HostTensor> outputs = arguments.split("all-to-all", "output", to, outputSplits);
    List<HostTensor> inputs = arguments.split("all-to-all", "input", from, inputSplits);
    arguments.ownPart("all-to-all", "output's parts", outputs, inputs.get(group.rank()));
    numbers("all-to-all", "input", from);
    return begun(backend.allToAll(List.copyOf(outputs), List.copyOf(inputs), timeout));
  }

  Work allToAll(List<Tensor> outputs, List<Tensor> inputs) {
    group.requireOpen();
    List<HostTensor> to = arguments.onePerRank("all-to-all", "outputs", outputs);
    List<HostTensor> from = arguments.onePerRank("all-to-all", "inputs", inputs);
    arguments.sameTypes("all-to-all", to, from.get(0));
    arguments.sameTypes("all-to-all", from, from.get(0));
    arguments.ownPart("all-to-all", "outputs", to, from.get(group.rank()));
    arguments.apart("all-to-all", to, from);
    numbers("all-to-all", "inputs", from);
    return begun(backend.allToAll(List.copyOf(to), List.copyOf(from), timeout));
  }

  Work barrier() {
    group.requireOpen();
    return begun(backend.barrier(timeout));
  }

  private void numbers(String operation, String name, List<HostTensor> tensors) {
    for (HostTensor tensor : tensors) {
      numbers(operation, name, tensor);
    }
  }

  private void numbers(String operation, String name, HostTensor tensor) {
    if (group.options().nanCheck()) {
      arguments.numbers(operation, name, tensor);
    }
  }

  private Work begun(Work work) {
    return group.coalescing().begun(work);
  }
}
