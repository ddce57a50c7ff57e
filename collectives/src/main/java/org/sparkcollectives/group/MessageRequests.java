package org.sparkcollectives.group;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.sparkcollectives.Backend;
import org.sparkcollectives.OpType;
import org.sparkcollectives.P2POp;
import org.sparkcollectives.Tensor;
import org.sparkcollectives.Work;
import org.sparkcollectives.tensor.HostTensor;
import org.sparkcollectives.tensor.TensorView;

/**
 * The messages that a user asks a group for, alone or as a batch: checks what the user gives and
 * has the backend of their device carry them out.
 *
 * @param group whose ranks exchange them
 * @param backends that carry them out, by the device of the tensors
 * @param arguments checks what the user gives
 * @param timeout of each
 */
record MessageRequests(RankGroup group, Backends backends, Arguments arguments, Duration timeout) {

  Work send(Tensor tensor, int destination, int tag) {
    group.requireOpen();
    TensorView own = arguments.tensor("send", "tensor", tensor);
    arguments.peer("send", destination);
    arguments.tag("send", tag);
    numbers(own);
    return post(own, destination, tag);
  }

  private Work post(TensorView tensor, int destination, int tag) {
    return group.coalescing().begun(on(tensor).send(tensor, destination, tag, timeout));
  }

  private void numbers(TensorView tensor) {
    if (group.nanCheck() && tensor instanceof HostTensor host) {
      arguments.numbers("send", "tensor", host);
    }
  }

  private Backend on(TensorView tensor) {
    return backends.forDevice(tensor.device().type());
  }

  Work recv(Tensor tensor, int source, int tag) {
    group.requireOpen();
    TensorView own = arguments.tensor("recv", "tensor", tensor);
    arguments.peer("recv", source);
    arguments.tag("recv", tag);
    return group.coalescing().begun(on(own).recv(own, source, tag, timeout));
  }

  Work recvAny(Tensor tensor, int tag) {
    group.requireOpen();
    TensorView own = arguments.tensor("recv-any", "tensor", tensor);
    arguments.hasPeers("recv-any");
    arguments.tag("recv-any", tag);
    return group.coalescing().begun(on(own).recvAny(own, tag, timeout));
  }

  List<Work> batch(List<P2POp> operations) {
    group.requireOpen();
    arguments.batch(operations);
    operations.stream()
        .filter(each -> each.type() == OpType.SEND)
        .forEach(each -> numbers(TensorView.of(each.tensor())));
    Map<Backend, List<P2POp>> byBackend = new LinkedHashMap<>();
    operations.forEach(
        each ->
            byBackend
                .computeIfAbsent(on(TensorView.of(each.tensor())), backend -> new ArrayList<>())
                .add(each));
    // Each backend's works are in the order of its operations: put them back among the others'.
    Map<Backend, Iterator<Work>> works = new LinkedHashMap<>();
    byBackend.forEach((backend, own) -> works.put(backend, backend.batch(own, timeout).iterator()));
    return operations.stream()
        .map(each -> begun(works.get(on(TensorView.of(each.tensor()))).next()))
        .toList();
  }

  private Work begun(Work work) {
    return group.coalescing().begun(work);
  }
}
