package org.sparkcollectives.object;

import java.util.ArrayList;
import java.util.List;
import org.sparkcollectives.Backend;
import org.sparkcollectives.DType;
import org.sparkcollectives.ObjectCollectives;
import org.sparkcollectives.ProcessGroup;
import org.sparkcollectives.Tensor;
import org.sparkcollectives.Work;

/**
 * Collectives of objects, made of the operations of a group.
 *
 * <p>What all ranks receive travels as broadcasts of frames. What one rank receives begins with a
 * collective, which puts it in the group's order and finds ranks that call something else, and goes
 * on with messages.
 */
public final class StreamedObjectCollectives implements ObjectCollectives {

  /** Of messages that belong to a collective; users' tags are not negative. */
  private static final int COLLECTIVE_TAG = -1;

  private final ProcessGroup group;
  private final Backend messages;
  private final ObjectStreams streams;

  /**
   * With the group, what carries out its messages, and this rank's codec.
   *
   * @param group whose timeout bounds each frame
   */
  public StreamedObjectCollectives(ProcessGroup group, Backend messages, ObjectCodec codec) {
    this.group = group;
    this.messages = messages;
    this.streams = new ObjectStreams(codec, group.name(), group.rank());
  }

  @Override
  public <T> T broadcast(T objectAtRoot, int root) {
    String call = "object broadcast from rank " + root;
    if (group.rank() == root) {
      streams.write(objectAtRoot, (index, frame) -> group.broadcast(frame, root), call);
      return objectAtRoot;
    }
    return cast(streams.read((index, frame) -> group.broadcast(frame, root), root, call));
  }

  @Override
  public <T> List<T> allGather(T object) {
    return cast(new ObjectAllGather(group, streams).run(object));
  }

  @Override
  public <T> List<T> gather(T object, int root) {
    String call = "object gather at rank " + root;
    if (group.rank() == root) {
      return cast(gatherHere(object, call));
    }
    streams.write(
        object,
        (index, frame) -> index == 0 ? group.gather(List.of(), frame, root) : sendPart(frame, root),
        call);
    return null;
  }

  private List<Object> gatherHere(Object own, String call) {
    int root = group.rank();
    Tensor frames = FirstFrames.memoryFor(group.size());
    List<Tensor> outputs = new ArrayList<>();
    for (int rank = 0; rank < group.size(); rank++) {
      outputs.add(FirstFrames.part(frames, rank));
    }
    Work gathered = group.gather(outputs, FirstFrames.memoryFor(1), root);
    gathered.await();
    FirstFrames firstFrames = new FirstFrames(frames, gathered);
    ReceivedObjects received = new ReceivedObjects(group.size());
    for (int rank = 0; rank < group.size(); rank++) {
      int source = rank;
      received.receive(
          source,
          () ->
              source == root
                  ? own
                  : streams.read(firstFrames.then(source, partsFrom(source)), source, call));
    }
    return received.inRankOrder();
  }

  @Override
  public <T> T scatter(List<T> objectsAtRoot, int root) {
    String call = "object scatter from rank " + root;
    if (group.rank() == root) {
      return scatterFromHere(objectsAtRoot, call);
    }
    group.scatter(Tensor.allocate(DType.INT8, 1), List.of(), root).await();
    return cast(streams.read(partsFrom(root), root, call));
  }

  private <T> T scatterFromHere(List<T> objects, String call) {
    int root = group.rank();
    if (objects == null || objects.size() != group.size()) {
      throw new IllegalArgumentException(
          call
              + " in group \""
              + group.name()
              + "\": the root must give a list of one object for each of "
              + group.size()
              + " ranks, not "
              + (objects == null ? "null" : objects.size()));
    }
    Tensor announcement = Tensor.allocate(DType.INT8, 1);
    List<Tensor> announcements = new ArrayList<>();
    for (int rank = 0; rank < group.size(); rank++) {
      announcements.add(announcement);
    }
    group.scatter(Tensor.allocate(DType.INT8, 1), announcements, root).await();
    ReceivedObjects sent = new ReceivedObjects(group.size());
    for (int rank = 0; rank < group.size(); rank++) {
      int destination = rank;
      Object object = objects.get(rank);
      sent.receive(
          rank,
          () -> {
            if (destination != root) {
              streams.write(object, (index, frame) -> sendPart(frame, destination), call);
            }
            return object;
          });
    }
    return cast(sent.inRankOrder().get(root));
  }

  private Work sendPart(Tensor frame, int destination) {
    return messages.send(frame, destination, COLLECTIVE_TAG, group.timeout());
  }

  private FrameInput.Path partsFrom(int source) {
    return (index, frame) -> messages.recv(frame, source, COLLECTIVE_TAG, group.timeout());
  }

  @Override
  public <T> void send(T object, int destination, int tag) {
    streams.write(
        object,
        (index, frame) -> group.send(frame, destination, tag),
        "object send from rank " + group.rank() + " to rank " + destination);
  }

  @Override
  @SuppressWarnings("TypeParameterUnusedInFormals")
  public <T> T recv(int source, int tag) {
    return cast(
        streams.read(
            (index, frame) -> group.recv(frame, source, tag),
            source,
            "object send from rank " + source + " to rank " + group.rank()));
  }

  /** The users' types are theirs to know. */
  @SuppressWarnings({"unchecked", "TypeParameterUnusedInFormals"})
  private static <T> T cast(Object object) {
    return (T) object;
  }
}
