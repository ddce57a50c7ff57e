package org.sparkcollectives.spark.internal.python;

import java.util.ArrayList;
import java.util.List;
import org.sparkcollectives.OpType;
import org.sparkcollectives.P2POp;
import org.sparkcollectives.ProcessGroup;
import org.sparkcollectives.Tensor;
import org.sparkcollectives.Work;

/** The operations of a group, as requests ask for them. */
final class Operations {

  private final ProcessGroup group;
  private final Request request;
  private final SegmentUse memory;

  private Operations(ProcessGroup group, Request request, SegmentUse memory) {
    this.group = group;
    this.request = request;
    this.memory = memory;
  }

  /** Starts the operation of the request, on tensors in {@code memory}. Does not block. */
  static List<Work> begin(ProcessGroup group, Request request, SegmentUse memory) {
    OpType type = OpType.ofCode(request.call());
    Operations operations = new Operations(group, request, memory);
    return type == OpType.COALESCED
        ? group.batch(operations.messages())
        : List.of(operations.begin(type));
  }

  private Work begin(OpType type) {
    return switch (type) {
      case BROADCAST -> group.broadcast(output(), request.peer());
      case ALL_REDUCE -> group.allReduce(output(), request.reduction());
      case ALL_REDUCE_COALESCED -> group.allReduceCoalesced(outputs(), request.reduction());
      case REDUCE -> group.reduce(output(), request.reduction(), request.peer());
      case ALL_GATHER -> group.allGather(outputs(), input());
      case ALL_GATHER_INTO -> group.allGather(output(), input());
      case GATHER -> group.gather(outputs(), input(), request.peer());
      case SCATTER -> group.scatter(output(), inputs(), request.peer());
      case REDUCE_SCATTER -> group.reduceScatter(output(), inputs(), request.reduction());
      case REDUCE_SCATTER_INTO -> group.reduceScatter(output(), input(), request.reduction());
      case ALL_TO_ALL_INTO -> allToAll(request.nextLongs(), request.nextLongs());
      case ALL_TO_ALL -> group.allToAll(outputs(), inputs());
      case BARRIER -> group.barrier();
      case SEND -> group.send(input(), request.peer(), request.tag());
      case RECV -> group.recv(output(), request.peer(), request.tag());
      case RECV_ANY -> group.recvAny(output(), request.tag());
      default -> throw new IllegalArgumentException("There is no call " + request.call());
    };
  }

  private Work allToAll(long[] outputSplits, long[] inputSplits) {
    return group.allToAll(
        inRows(only(request.outputs()), outputSplits),
        inRows(only(request.inputs()), inputSplits),
        outputSplits,
        inputSplits);
  }

  /** Returns a tensor in its shape if the parts are whole rows; equal parts need not be. */
  private Tensor inRows(Request.TensorPlace place, long[] splits) {
    boolean rows =
        !place.shape().isEmpty() && (splits.length > 0 || place.shape().get(0) % group.size() == 0);
    return rows ? memory.shaped(place) : memory.tensor(place);
  }

  private Tensor output() {
    return memory.shaped(only(request.outputs()));
  }

  private Tensor input() {
    return memory.shaped(only(request.inputs()));
  }

  private static Request.TensorPlace only(List<Request.TensorPlace> places) {
    if (places.size() != 1) {
      throw new IllegalArgumentException("This call takes one tensor, not " + places.size());
    }
    return places.get(0);
  }

  private List<Tensor> outputs() {
    return memory.shaped(request.outputs());
  }

  private List<Tensor> inputs() {
    return memory.shaped(request.inputs());
  }

  /**
   * Returns the messages of a batch. Its tensors are among the outputs, each with whether it is
   * sent, its peer and its tag.
   */
  private List<P2POp> messages() {
    List<P2POp> messages = new ArrayList<>(request.outputs().size());
    for (Tensor each : outputs()) {
      boolean sent = request.nextByte() != 0;
      int peer = request.nextInt();
      int tag = request.nextInt();
      messages.add(sent ? P2POp.send(each, peer, tag) : P2POp.recv(each, peer, tag));
    }
    return messages;
  }
}
