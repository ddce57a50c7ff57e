package org.sparkcollectives.engine;

import java.time.Duration;
import java.util.List;
import org.sparkcollectives.Backend;
import org.sparkcollectives.OpType;
import org.sparkcollectives.P2POp;
import org.sparkcollectives.Tensor;
import org.sparkcollectives.Work;
import org.sparkcollectives.tensor.HostTensor;

/**
 * The messages that a user asks a group for, alone or as a batch: checks what the user gives and
 * has the backend carry them out.
 *
 * @param group whose ranks exchange them
 * @param backend that carries them out
 * @param arguments checks what the user gives
 * @param timeout of each
 */
record MessageRequests(RankGroup group, Backend backend, Arguments arguments, Duration timeout) {

  Work send(Tensor tensor, int destination, int tag) {
    group.requireOpen();
    HostTensor host = arguments.tensor("send", "tensor", tensor);
    arguments.peer("send", destination);
    arguments.tag("send", tag);
    numbers(host);
    return post(host, destination, tag);
  }

  private Work post(HostTensor tensor, int destination, int tag) {
    return group.coalescing().begun(backend.send(tensor, destination, tag, timeout));
  }

  private void numbers(HostTensor tensor) {
    if (group.options().nanCheck()) {
      arguments.numbers("send", "tensor", tensor);
    }
  }

  Work recv(Tensor tensor, int source, int tag) {
    group.requireOpen();
    HostTensor host = arguments.tensor("recv", "tensor", tensor);
    arguments.peer("recv", source);
    arguments.tag("recv", tag);
    return group.coalescing().begun(backend.recv(host, source, tag, timeout));
  }

  Work recvAny(Tensor tensor, int tag) {
    group.requireOpen();
    HostTensor host = arguments.tensor("recv-any", "tensor", tensor);
    arguments.hasPeers("recv-any");
    arguments.tag("recv-any", tag);
    return group.coalescing().begun(backend.recvAny(host, tag, timeout));
  }

  List<Work> batch(List<P2POp> operations) {
    group.requireOpen();
    arguments.batch(operations);
    operations.stream()
        .filter(each -> each.type() == OpType.SEND)
        .forEach(each -> numbers(HostTensor.of(each.tensor())));
    return operations.stream()
        .map(
            each ->
                each.type() == OpType.SEND
                    ? post(HostTensor.of(each.tensor()), each.peer(), each.tag())
                    : recv(each.tensor(), each.peer(), each.tag()))
        .toList();
  }
}
