package org.sparkcollectives.spark.python;

import java.util.ArrayList;
import java.util.List;
import org.sparkcollectives.OpType;
import org.sparkcollectives.P2POp;
import org.sparkcollectives.ProcessGroup;
import org.sparkcollectives.Tensor;
import org.sparkcollectives.Work;

/** The operations of a group, as requests ask for them. */
final class Operations {

  private final Segments segments;

  /** On tensors in {@code segments}. */
  Operations(Segments segments) {
    this.segments = segments;
  }

  /** Begins what the request asks for. Does not block. */
  List<Work> begin(ProcessGroup group, Request request) {
    OpType type = OpType.ofCode(request.call());
    return type == OpType.COALESCED
        ? group.batch(messages(request))
        : List.of(begin(group, request, type));
  }

  private Work begin(ProcessGroup group, Request request, OpType type) {
    return switch (type) {
      case BROADCAST -> group.broadcast(output(request), request.peer());
      case ALL_REDUCE -> group.allReduce(output(request), request.reduction());
      case ALL_REDUCE_COALESCED -> group.allReduceCoalesced(outputs(request), request.reduction());
      case REDUCE -> group.reduce(output(request), request.reduction(), request.peer());
      case ALL_GATHER -> group.allGather(outputs(request), input(request));
      case ALL_GATHER_INTO -> group.allGather(output(request), input(request));
      case GATHER -> group.gather(outputs(request), input(request), request.peer());
      case SCATTER -> group.scatter(output(request), inputs(request), request.peer());
      case REDUCE_SCATTER ->
          group.reduceScatter(output(request), inputs(request), request.reduction());
      case REDUCE_SCATTER_INTO ->
          group.reduceScatter(output(request), input(request), request.reduction());
      case ALL_TO_ALL_INTO ->
          group.allToAll(output(request), input(request), request.nextLongs(), request.nextLongs());
      case ALL_TO_ALL -> group.allToAll(outputs(request), inputs(request));
      case BARRIER -> group.barrier();
      case SEND -> group.send(input(request), request.peer(), request.tag());
      case RECV -> group.recv(output(request), request.peer(), request.tag());
      case RECV_ANY -> group.recvAny(output(request), request.tag());
      default -> throw new IllegalArgumentException("There is no call " + request.call());
    };
  }

  private Tensor output(Request request) {
    return only(request.outputs());
  }

  private Tensor input(Request request) {
    return only(request.inputs());
  }

  private Tensor only(List<Request.TensorPlace> places) {
    if (places.size() != 1) {
      throw new IllegalArgumentException("This call takes one tensor, not " + places.size());
    }
    return segments.tensor(places.get(0));
  }

  private List<Tensor> outputs(Request request) {
    return segments.tensors(request.outputs());
  }

  private List<Tensor> inputs(Request request) {
    return segments.tensors(request.inputs());
  }

  /** A batch has its tensors among the outputs, and for each: whether it is sent, peer, tag. */
  private List<P2POp> messages(Request request) {
    List<P2POp> messages = new ArrayList<>(request.outputs().size());
    for (Tensor each : outputs(request)) {
      boolean sent = request.nextByte() != 0;
      int peer = request.nextInt();
      int tag = request.nextInt();
      messages.add(sent ? P2POp.send(each, peer, tag) : P2POp.recv(each, peer, tag));
    }
    return messages;
  }
}
