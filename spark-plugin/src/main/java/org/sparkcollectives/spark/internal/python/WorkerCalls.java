package org.sparkcollectives.spark.internal.python;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.List;
import java.util.Locale;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.sparkcollectives.OpType;
import org.sparkcollectives.ProcessGroup;
import org.sparkcollectives.Tensor;
import org.sparkcollectives.Work;
import org.sparkcollectives.spi.tensor.HostTensor;
import org.sparkcollectives.spi.tensor.NanCheck;

/** Carries out the requests of a Python worker. Used by the thread of one connection. */
final class WorkerCalls {

  private static final Logger LOG = LoggerFactory.getLogger(WorkerCalls.class);

  private static final int FIRST_OTHER = 64;

  /** The number in a reply that describes no segment. */
  private static final int NO_SEGMENT = 0;

  private final TaskBridge bridge;
  private final GroupCalls groupCalls;
  private final ReplicaCalls replicaCalls;
  private final LargeBytes apart = new LargeBytes();

  /** Creates the calls for a worker of the task. */
  WorkerCalls(TaskBridge bridge) {
    this.bridge = bridge;
    this.groupCalls = new GroupCalls(bridge);
    this.replicaCalls = new ReplicaCalls(bridge);
  }

  /**
   * Carries out a request on this thread, and writes its result. Blocks as long as the operation
   * does.
   */
  void answer(Request request, Reply reply) throws IOException {
    int call = request.call();
    if (call < FIRST_OTHER) {
      operate(request, reply);
    } else if (call >= CallCode.STORE_SET) {
      apart.beginReply();
      try {
        StoreCalls.answer(bridge.group(request.group()).store(), request, apart, reply);
      } catch (RuntimeException | Error e) {
        apart.forget();
        throw e;
      }
    } else {
      switch (call) {
        case CallCode.ALLOCATE -> allocate(request, reply);
        case CallCode.ALLOCATE_FOR_RANKS -> allocateForRanks(request, reply);
        case CallCode.WRITE -> write(request, reply);
        case CallCode.READ -> read(request, reply);
        case CallCode.CHECK_NUMBERS -> checkNumbers(request, reply);
        case CallCode.AWAIT_WORK ->
            bridge.works().await(request.nextLong(), request.timeout(), reply);
        case CallCode.TEST_WORK -> {
          if (request.isChosen()) {
            bridge.works().look(request.nextLong(), reply);
          } else {
            bridge.works().test(request.nextLong(), reply);
          }
        }
        case CallCode.BRING -> {
          apart.take(request.tag(), request.isChosen(), request.nextLong(), request.rest());
          reply.begin(Reply.DONE);
        }
        case CallCode.FETCH -> apart.give(reply);
        case CallCode.REPORT -> {
          byte[] message = RankReports.message(bridge.task().rank(), request.rest());
          bridge.task().report(message, request.isChosen());
          reply.begin(Reply.DONE);
        }
        case CallCode.REPLICA,
            CallCode.START_QUORUM,
            CallCode.RESUME_QUORUM,
            CallCode.SHOULD_COMMIT ->
            replicaCalls.answer(request, reply);
        default -> groupCalls.answer(request, reply);
      }
    }
  }

  private void operate(Request request, Reply reply) {
    ProcessGroup group = bridge.group(request.group());
    if (request.timeout() != null) {
      group = group.withTimeout(request.timeout());
    }
    SegmentUse memory = new SegmentUse(bridge.segments(), request);
    List<Work> works = begin(group, request, memory);
    if (request.isAsynchronous() || request.call() == OpType.COALESCED.code()) {
      memory.endWith(works);
      reply.begin(Reply.DONE);
      works.forEach(each -> reply.put(bridge.keep(request.group(), each)));
      return;
    }
    Work work = works.get(0);
    try {
      work.await();
    } finally {
      memory.end(work.isSuccess());
    }
    reply.begin(Reply.DONE).put(Works.source(work));
  }

  private static List<Work> begin(ProcessGroup group, Request request, SegmentUse memory) {
    boolean begun = false;
    try {
      List<Work> works = Operations.begin(group, request, memory);
      begun = true;
      return works;
    } finally {
      if (!begun) {
        // Some messages of a batch may be in progress.
        memory.end(request.call() != OpType.COALESCED.code());
      }
    }
  }

  private void allocate(Request request, Reply reply) throws IOException {
    Segment segment = bridge.allocate(request.group(), request.nextLong(), !request.isChosen());
    if (request.isForScratch()) {
      segment.asScratch();
    }
    describe(segment, reply);
  }

  private void allocateForRanks(Request request, Reply reply) {
    try {
      describe(bridge.allocateForRanks(request.group(), request.nextLong()), reply);
    } catch (IOException e) {
      LOG.info("The Python ranks of a host exchange through their JVMs: {}", e.toString());
      reply.begin(Reply.DONE).put(NO_SEGMENT).put("");
    }
  }

  private static void describe(Segment segment, Reply reply) {
    reply.begin(Reply.DONE).put(segment.id());
    if (segment.shared() == null) {
      reply.put("");
    } else {
      reply
          .put(segment.shared().path())
          .put(segment.shared().nonce())
          .put(segment.shared().begin());
    }
  }

  private void write(Request request, Reply reply) {
    Segment segment = bridge.segments().get(request.nextInt());
    long offset = request.nextLong();
    ByteBuffer bytes = request.rest();
    segment.range(offset, bytes.remaining()).put(bytes);
    reply.begin(Reply.DONE);
  }

  private void read(Request request, Reply reply) {
    Segment segment = bridge.segments().get(request.nextInt());
    ByteBuffer range = segment.range(request.nextLong(), request.nextInt());
    reply.begin(Reply.DONE).room(range.remaining()).put(range);
  }

  /**
   * Refuses tensors with a NaN, as {@code spark.collectives.nanCheck} does. For calls that reduce
   * in parts: none of the parts may start unless all can.
   */
  private void checkNumbers(Request request, Reply reply) {
    ProcessGroup group = bridge.group(request.group());
    SegmentUse memory = new SegmentUse(bridge.segments(), request);
    try {
      for (Tensor each : memory.tensors(request.inputs())) {
        long first = NanCheck.first(HostTensor.of(each));
        if (first >= 0) {
          throw new IllegalArgumentException(
              String.format(
                  Locale.ROOT,
                  "all-reduce of group \"%s\" on rank %d of %d: element %d of the %d of the tensor"
                      + " is not a number (spark.collectives.nanCheck)",
                  group.name(),
                  group.rank(),
                  group.size(),
                  first,
                  each.count()));
        }
      }
    } finally {
      memory.end(true);
    }
    reply.begin(Reply.DONE);
  }
}
