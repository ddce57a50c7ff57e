package org.sparkcollectives.spark.internal.python;

import java.util.List;
import org.sparkcollectives.ReconfigurableGroup;
import org.sparkcollectives.spark.internal.elastic.QuorumReplica;
import org.sparkcollectives.spi.tensor.HostTensor;

/** The calls of a worker that trains a replica of an elastic stage. */
final class ReplicaCalls {

  private final TaskBridge bridge;

  /** Creates the calls for a worker of the task. */
  ReplicaCalls(TaskBridge bridge) {
    this.bridge = bridge;
  }

  /** Carries out a call on this thread. Blocks as the calls of the replica do. */
  void answer(Request request, Reply reply) {
    switch (request.call()) {
      case CallCode.REPLICA -> {
        WorkerReplica begun = bridge.replica(request.nextText(), request.nextInt());
        ReconfigurableGroup group = begun.replica().participants();
        reply.begin(Reply.DONE).put(begun.group()).put(group.timeout().toMillis());
      }
      case CallCode.START_QUORUM -> {
        WorkerReplica replica = bridge.replica();
        tell(replica, replica.start(request.nextText()), reply);
      }
      case CallCode.RESUME_QUORUM -> resume(bridge.replica(), request, reply);
      case CallCode.SHOULD_COMMIT -> {
        QuorumReplica replica = bridge.replica().replica();
        boolean committed = replica.shouldCommit(request.isChosen() ? request.nextText() : null);
        reply.begin(Reply.DONE).put(committed).put(replica.currentStep());
      }
      default -> throw new IllegalArgumentException("There is no call " + request.call());
    }
  }

  /** Goes on with the state, or the room for one, that the request has among its tensors. */
  private void resume(WorkerReplica replica, Request request, Reply reply) {
    if (request.isChosen()) {
      tell(replica, replica.resumeWithoutMemory(), reply);
      return;
    }
    SegmentUse memory = new SegmentUse(bridge.segments(), request);
    long quorum = replica.replica().quorumId();
    boolean well = false;
    WorkerReplica.Event event;
    try {
      List<HostTensor> tensors =
          memory.tensors(request.inputs().isEmpty() ? request.outputs() : request.inputs()).stream()
              .map(HostTensor::of)
              .toList();
      event = replica.resume(tensors);
      // Otherwise lost members may still write to this memory.
      well = event.failure() == null && replica.replica().quorumId() == quorum;
    } finally {
      memory.end(well);
    }
    tell(replica, event, reply);
  }

  private void tell(WorkerReplica worker, WorkerReplica.Event event, Reply reply) {
    if (worker.hasNewQuorum()) {
      bridge.changed(worker.group());
    }
    if (event.failure() != null) {
      throw event.failure();
    }
    QuorumReplica replica = worker.replica();
    reply.begin(Reply.DONE).put((byte) event.next().ordinal()).put(replica.quorumId());
    if (event.next() == WorkerReplica.Next.COMPUTE) {
      reply
          .put(replica.currentStep())
          .put(replica.participatingRank())
          .put(replica.numParticipants());
    }
    reply.put(event.sizes().length);
    for (long size : event.sizes()) {
      reply.put(size);
    }
  }
}
