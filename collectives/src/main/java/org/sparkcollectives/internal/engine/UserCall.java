package org.sparkcollectives.internal.engine;

import java.util.List;
import org.sparkcollectives.ReduceOp;
import org.sparkcollectives.Tensor;
import org.sparkcollectives.internal.algorithm.Call;
import org.sparkcollectives.spi.OperationSpec;
import org.sparkcollectives.spi.tensor.HostTensor;

/**
 * A user's call of a collective, as other ranks and records have it, and as algorithms have it. It
 * can be carried out any number of times.
 *
 * @param spec the call, as other ranks and records have it
 * @param inputs the tensors that it reads
 * @param outputs the tensors that it writes
 * @param call the call, as algorithms have it
 */
record UserCall<C extends Call<C>>(
    OperationSpec spec, List<HostTensor> inputs, List<Tensor> outputs, C call) {

  static UserCall<Call.AllReduce> allReduce(Tensor tensor, ReduceOp op) {
    HostTensor host = HostTensor.of(tensor);
    return new UserCall<>(
        OperationSpec.allReduce(host, op),
        List.of(host),
        List.of(tensor),
        Call.allReduce(host, op));
  }

  /** Returns the call of a rank, which reads the tensor if it is the root. */
  static UserCall<Call.Broadcast> broadcast(Tensor tensor, int root, int rank) {
    HostTensor host = HostTensor.of(tensor);
    return new UserCall<>(
        OperationSpec.broadcast(host, root),
        rank == root ? List.of(host) : List.of(),
        List.of(tensor),
        new Call.Broadcast(host, root));
  }

  /** Returns a call of {@code size} ranks whose inputs are equal in count. */
  static UserCall<Call.AllGather> allGather(Tensor output, Tensor input, int size) {
    HostTensor to = HostTensor.of(output);
    HostTensor from = HostTensor.of(input);
    return new UserCall<>(
        OperationSpec.allGather(to, from),
        List.of(from),
        List.of(output),
        Call.allGather(to, from, size));
  }

  /** Returns a call of ranks whose inputs may differ in count. */
  static UserCall<Call.AllGather> allGather(List<Tensor> outputs, Tensor input) {
    List<HostTensor> to = hosts(outputs);
    HostTensor from = HostTensor.of(input);
    return new UserCall<>(
        OperationSpec.allGather(to, from), List.of(from), outputs, Call.allGather(to, from));
  }

  /** Returns a call of {@code size} ranks whose outputs are equal in count. */
  static UserCall<Call.ReduceScatter> reduceScatter(
      Tensor output, Tensor input, ReduceOp op, int size) {
    HostTensor to = HostTensor.of(output);
    HostTensor from = HostTensor.of(input);
    return new UserCall<>(
        OperationSpec.reduceScatter(to, from, op),
        List.of(from),
        List.of(output),
        Call.reduceScatter(to, from, op, size));
  }

  /** Returns a call of ranks whose outputs may differ in count. */
  static UserCall<Call.ReduceScatter> reduceScatter(
      Tensor output, List<Tensor> inputs, ReduceOp op) {
    HostTensor to = HostTensor.of(output);
    List<HostTensor> from = hosts(inputs);
    return new UserCall<>(
        OperationSpec.reduceScatter(to, from, op),
        from,
        List.of(output),
        Call.reduceScatter(to, from, op));
  }

  static UserCall<Call.Gather> gather(List<Tensor> outputs, Tensor input, int root) {
    List<HostTensor> to = hosts(outputs);
    HostTensor from = HostTensor.of(input);
    return new UserCall<>(
        OperationSpec.gather(to, from, root),
        List.of(from),
        outputs,
        new Call.Gather(to, from, root));
  }

  static List<HostTensor> hosts(List<Tensor> tensors) {
    return tensors.stream().map(HostTensor::of).toList();
  }

  /** Returns what the rank gives; of a rank that gives nothing what it gets. */
  List<HostTensor> own() {
    return inputs.isEmpty() ? hosts(outputs) : inputs;
  }
}
