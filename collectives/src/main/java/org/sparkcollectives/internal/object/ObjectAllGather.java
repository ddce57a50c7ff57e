package org.sparkcollectives.internal.object;

import java.util.List;
import org.sparkcollectives.ProcessGroup;
import org.sparkcollectives.Tensor;
import org.sparkcollectives.Work;

/**
 * One all-gather of objects: the first frames in one operation, then the rest of each object, rank
 * by rank, as broadcasts.
 *
 * <p>A rank writes its object while it reads those of others: when its first frame is full, {@link
 * FrameOutput} calls back here, which reads the objects of lower ranks. Writing goes on when it is
 * this rank's turn. So no rank holds more than a few frames, and no second thread is needed.
 */
final class ObjectAllGather {

  private final ProcessGroup group;
  private final ObjectCall call;
  private final ObjectStreams streams;
  private final ReceivedObjects received;
  private FirstFrames firstFrames;

  ObjectAllGather(ProcessGroup group, ObjectCall call, ObjectStreams streams) {
    this.group = group;
    this.call = call;
    this.streams = streams;
    this.received = new ReceivedObjects(group.size());
  }

  List<Object> run(Object object) {
    received.receive(
        group.rank(),
        () -> {
          streams.write(object, this::send, "object all-gather");
          return object;
        });
    for (int rank = group.rank() + 1; rank < group.size(); rank++) {
      read(rank);
    }
    return received.inRankOrder();
  }

  private Work send(int index, Tensor frame) {
    if (index > 0) {
      return call.group().broadcast(frame, group.rank());
    }
    Tensor frames = FirstFrames.memoryFor(group.size());
    Work gathered = call.group().allGather(frames, frame);
    gathered.await();
    firstFrames = new FirstFrames(frames, gathered);
    for (int rank = 0; rank < group.rank(); rank++) {
      read(rank);
    }
    return gathered;
  }

  private void read(int rank) {
    received.receive(
        rank,
        () ->
            streams.read(
                firstFrames.then(rank, (index, frame) -> call.group().broadcast(frame, rank)),
                rank,
                "object all-gather"));
  }
}
