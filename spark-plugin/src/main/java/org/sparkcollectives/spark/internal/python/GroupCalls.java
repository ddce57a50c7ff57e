package org.sparkcollectives.spark.internal.python;

import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.function.Consumer;
import org.sparkcollectives.CollectiveException;
import org.sparkcollectives.DebugLevel;
import org.sparkcollectives.GroupOptions;
import org.sparkcollectives.ProcessGroup;
import org.sparkcollectives.ReconfigurableGroup;
import org.sparkcollectives.ShrinkMode;
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
      int id = bridge.join(options(request));
      describe(id, reply);
      return;
    }
    if (request.call() == CallCode.RECONFIGURABLE) {
      describe(bridge.reconfigurable(options(request)), reply);
      return;
    }
    if (request.call() == CallCode.CLOSE_GROUP) {
      done(() -> bridge.closeGroup(request.group()), reply);
      return;
    }
    ProcessGroup group = bridge.group(request.group());
    switch (request.call()) {
      case CallCode.NEW_GROUP -> newGroup(group, request, reply);
      case CallCode.SPLIT ->
          describe(group.split(request.peer(), request.tag(), options(request)), reply);
      case CallCode.SHRINK -> shrink(group, request, reply);
      case CallCode.NEW_LOCAL_GROUP -> describe(group.newLocalGroup(options(request)), reply);
      case CallCode.RECONFIGURE -> reconfigure(request, reply);
      case CallCode.ABORT_GROUP -> {
        String reason = request.nextText();
        done(() -> group.abort(new CollectiveException(reason)), reply);
      }
      case CallCode.CHECK_GROUP -> done(() -> check(group), reply);
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
      case CallCode.WHERE ->
          reply
              .begin(Reply.DONE)
              .put(group.localRank())
              .put(group.localSize())
              .putTexts(group.hosts());
      case CallCode.DUMP ->
          reply
              .begin(Reply.DONE)
              .put(
                  group
                      .flightRecorder()
                      .dump(request.nextByte() != 0, request.nextByte() != 0)
                      .toJson());
      case CallCode.DUMP_ALL_RANKS -> {
        String reason = request.nextText();
        done(() -> group.flightRecorder().dumpAllRanks(reason), reply);
      }
      default -> throw new IllegalArgumentException("There is no call " + request.call());
    }
  }

  private static void done(Runnable call, Reply reply) {
    call.run();
    reply.begin(Reply.DONE);
  }

  /** Throws what an operation of the group throws if the group has failed. Does not block. */
  private static void check(ProcessGroup group) {
    if (group.isFailed()) {
      group.barrier().await();
    }
  }

  private static Duration timeout(Request request, ProcessGroup group) {
    return request.timeout() == null ? group.timeout() : request.timeout();
  }

  private static ProcessGroup timed(Request request, ProcessGroup group) {
    return request.timeout() == null ? group : group.withTimeout(request.timeout());
  }

  /**
   * Reads the options of a new group: the request's timeout and, unless the request ends here, the
   * names of the backend and of the debug level. An empty text chooses nothing.
   */
  private static GroupOptions options(Request request) {
    GroupOptions options = GroupOptions.defaults();
    if (request.timeout() != null) {
      options = options.withTimeout(request.timeout());
    }
    if (request.isAtEnd()) {
      return options;
    }
    String backend = request.nextText();
    if (!backend.isEmpty()) {
      options = options.withBackend(backend);
    }
    String level = request.nextText();
    return level.isEmpty() ? options : options.withDebugLevel(DebugLevel.valueOf(level));
  }

  private void newGroup(ProcessGroup group, Request request, Reply reply) {
    String description = request.nextText();
    int[] ranks = request.nextInts();
    GroupOptions options =
        options(request)
            .withLocalSynchronization(request.isChosen())
            .withDescription(description)
            .withRanks(ranks);
    describe(group.newGroup(options), reply);
  }

  private void shrink(ProcessGroup group, Request request, Reply reply) {
    int[] excluded = request.nextInts();
    ShrinkMode mode = request.isChosen() ? ShrinkMode.ABORT : ShrinkMode.DEFAULT;
    describe(group.shrink(excluded, mode, options(request)), reply);
  }

  private void reconfigure(Request request, Reply reply) {
    long uuid = request.nextLong();
    List<String> handles = request.nextTexts();
    bridge.reconfigure(
        request.group(),
        group -> {
          if (request.isChosen()) {
            group.reconfigure(uuid, new HashSet<>(handles), timeout(request, group));
          } else {
            group.reconfigure(uuid, handles, timeout(request, group));
          }
          reply.begin(Reply.DONE).put(group.rank()).put(group.size()).put(group.handle());
        });
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
        .put(group.name());
    if (group instanceof ReconfigurableGroup changing) {
      // It is a world of its own, and has no ranks before its first change.
      reply.put(new int[0]).put(changing.handle());
    } else {
      reply.put(group.globalRanks());
    }
  }
}
