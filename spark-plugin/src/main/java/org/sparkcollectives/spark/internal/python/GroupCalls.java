package org.sparkcollectives.spark.internal.python;

import java.time.Duration;
import java.util.List;
import java.util.function.Consumer;
import org.sparkcollectives.CollectiveException;
import org.sparkcollectives.GroupOptions;
import org.sparkcollectives.ProcessGroup;
import org.sparkcollectives.Tensor;

/** The calls of groups that move no tensors: creating, closing and querying groups. */
final class GroupCalls {

  private static final int NOT_A_MEMBER = -1;

  private final TaskBridge bridge;

  /** Creates the calls for a worker of the task. */
  GroupCalls(TaskBridge bridge) {
    this.bridge = bridge;
  }

  void answer(Request request, Reply reply) {
    if (request.call() == CallCode.JOIN) {
      int id = bridge.join(options(GroupOptions.defaults(), request.timeout()));
      describe(id, reply);
      return;
    }
    if (request.call() == CallCode.CLOSE_GROUP) {
      done(() -> bridge.closeGroup(request.group()), reply);
      return;
    }
    ProcessGroup group = bridge.group(request.group());
    switch (request.call()) {
      case CallCode.NEW_GROUP -> newGroup(group, request, reply);
      case CallCode.SPLIT -> describe(group.split(request.peer(), request.tag()), reply);
      case CallCode.SHRINK -> describe(group.shrink(request.nextInts()), reply);
      case CallCode.ABORT_GROUP -> {
        String reason = request.nextText();
        done(() -> group.abort(new CollectiveException(reason)), reply);
      }
      case CallCode.EXTEND_TIMEOUT ->
          done(() -> group.extendTimeout(timeout(request, group)), reply);
      case CallCode.MONITORED_BARRIER ->
          done(() -> group.monitoredBarrier(timeout(request, group), request.isChosen()), reply);
      case CallCode.CHECKPOINT -> checkpoint(timed(request, group), request, reply);
      case CallCode.RESTORE -> restore(timed(request, group), request, reply);
      case CallCode.PROGRESS ->
          done(
              () -> group.progress(request.nextLong(), request.nextLong(), request.nextText()),
              reply);
      default -> throw new IllegalArgumentException("There is no call " + request.call());
    }
  }

  private static void done(Runnable call, Reply reply) {
    call.run();
    reply.begin(Reply.DONE);
  }

  private static Duration timeout(Request request, ProcessGroup group) {
    return request.timeout() == null ? group.timeout() : request.timeout();
  }

  private static ProcessGroup timed(Request request, ProcessGroup group) {
    return request.timeout() == null ? group : group.withTimeout(request.timeout());
  }

  private static GroupOptions options(GroupOptions options, Duration timeout) {
    return timeout == null ? options : options.withTimeout(timeout);
  }

  private void newGroup(ProcessGroup group, Request request, Reply reply) {
    GroupOptions options =
        options(GroupOptions.defaults(), request.timeout())
            .withLocalSynchronization(request.isChosen())
            .withDescription(request.nextText())
            .withRanks(request.nextInts());
    describe(group.newGroup(options), reply);
  }

  private void checkpoint(ProcessGroup group, Request request, Reply reply) {
    String name = request.nextText();
    using(
        request,
        memory -> {
          List<Tensor> state = memory.tensors(request.inputs());
          if (request.isChosen()) {
            group.checkpointReplicated(name, state);
          } else {
            group.checkpoint(name, state);
          }
        });
    reply.begin(Reply.DONE);
  }

  private void restore(ProcessGroup group, Request request, Reply reply) {
    String name = request.nextText();
    using(
        request,
        memory ->
            reply.begin(Reply.DONE).put(group.restore(name, memory.tensors(request.outputs()))));
  }

  /** Runs a call that no longer uses its tensors when it returns. */
  private void using(Request request, Consumer<SegmentUse> call) {
    SegmentUse memory = new SegmentUse(bridge.segments(), request);
    boolean done = false;
    try {
      call.accept(memory);
      done = true;
    } finally {
      memory.end(done);
    }
  }

  private void describe(ProcessGroup group, Reply reply) {
    if (group == null) {
      reply.begin(Reply.DONE).put(NOT_A_MEMBER);
    } else {
      describe(bridge.add(group), reply);
    }
  }

  private void describe(int id, Reply reply) {
    ProcessGroup group = bridge.group(id);
    reply
        .begin(Reply.DONE)
        .put(id)
        .put(group.rank())
        .put(group.size())
        .put(group.timeout().toMillis())
        .put(group.name())
        .put(group.globalRanks());
  }
}
