package org.sparkcollectives.internal.object;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import org.sparkcollectives.DType;
import org.sparkcollectives.ObjectCollectives;
import org.sparkcollectives.ProcessGroup;
import org.sparkcollectives.Tensor;
import org.sparkcollectives.Work;
import org.sparkcollectives.object.ObjectCodec;
import org.sparkcollectives.spi.Backend;

/**
 * Collectives of objects, made of the operations of a group.
 *
 * <p>An object for all ranks is sent as broadcasts of frames. An object for one rank begins with a
 * collective, which gives it its position in the group's order and finds ranks that call something
 * else, and continues with messages.
 */
public final class StreamedObjectCollectives implements ObjectCollectives {

  private final ProcessGroup group;
  private final Backend messages;
  private final ObjectStreams streams;

  /**
   * Creates the collectives of a group, with the backend that carries out its messages, and this
   * rank's codec.
   *
   * @param group whose timeout bounds each call
   */
  public StreamedObjectCollectives(ProcessGroup group, Backend messages, ObjectCodec codec) {
    this.group = group;
    this.messages = messages;
    this.streams = new ObjectStreams(codec, group);
  }

  @Override
  public <T> T broadcast(T objectAtRoot, int root) {
    ObjectCall call = begin();
    String name = "object broadcast from rank " + root;
    if (group.rank() == root) {
      streams.write(objectAtRoot, (index, frame) -> call.group().broadcast(frame, root), name);
      return objectAtRoot;
    }
    return cast(streams.read((index, frame) -> call.group().broadcast(frame, root), root, name));
  }

  private ObjectCall begin() {
    return new ObjectCall(group, messages);
  }

  @Override
  public <T> List<T> allGather(T object) {
    return cast(new ObjectAllGather(group, begin(), streams).run(object));
  }

  @Override
  public <T> List<T> gather(T object, int root) {
    ObjectCall call = begin();
    String name = "object gather at rank " + root;
    if (group.rank() == root) {
      return cast(gatherHere(object, call, name));
    }
    streams.write(
        object,
        (index, frame) ->
            index == 0 ? call.group().gather(List.of(), frame, root) : call.send(frame, root),
        name);
    return null;
  }

  private List<Object> gatherHere(Object own, ObjectCall call, String name) {
    int root = group.rank();
    Tensor frames = FirstFrames.memoryFor(group.size());
    List<Tensor> outputs = new ArrayList<>();
    for (int rank = 0; rank < group.size(); rank++) {
      outputs.add(FirstFrames.part(frames, rank));
    }
    Work gathered = call.group().gather(outputs, FirstFrames.memoryFor(1), root);
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
                  : streams.read(firstFrames.then(source, partsFrom(source, call)), source, name));
    }
    return received.inRankOrder();
  }

  @Override
  public <T> T scatter(List<T> objectsAtRoot, int root) {
    ObjectCall call = begin();
    String name = "object scatter from rank " + root;
    if (group.rank() == root) {
      return scatterFromHere(objectsAtRoot, call, name);
    }
    call.group().scatter(Tensor.allocate(DType.INT8, 1), List.of(), root).await();
    return cast(streams.read(partsFrom(root, call), root, name));
  }

  private <T> T scatterFromHere(List<T> objects, ObjectCall call, String name) {
    int root = group.rank();
    if (objects == null || objects.size() != group.size()) {
      throw new IllegalArgumentException(
          name
              + " in group \""
              + group.name()
              + "\": the root must give a list of one object for each of "
              + group.size()
              + " ranks, not "
              + (objects == null ? "null" : objects.size()));
    }
    Tensor announcement = Tensor.allocate(DType.INT8, 1);
    List<Tensor> announcements = Collections.nCopies(group.size(), announcement);
    call.group().scatter(Tensor.allocate(DType.INT8, 1), announcements, root).await();
    ReceivedObjects sent = new ReceivedObjects(group.size());
    for (int rank = 0; rank < group.size(); rank++) {
      int destination = rank;
      Object object = objects.get(rank);
      sent.receive(
          rank,
          () -> {
            if (destination != root) {
              streams.write(object, (index, frame) -> call.send(frame, destination), name);
            }
            return object;
          });
    }
    return cast(sent.inRankOrder().get(root));
  }

  private static FrameInput.Path partsFrom(int source, ObjectCall call) {
    return (index, frame) -> call.recv(frame, source);
  }

  @Override
  public <T> void send(T object, int destination, int tag) {
    ObjectCall call = begin();
    streams.write(
        object,
        (index, frame) -> call.group().send(frame, destination, tag),
        "object send from rank " + group.rank() + " to rank " + destination);
  }

  @Override
  @SuppressWarnings("TypeParameterUnusedInFormals")
  public <T> T recv(int source, int tag) {
    ObjectCall call = begin();
    return cast(
        streams.read(
            (index, frame) -> call.group().recv(frame, source, tag),
            source,
            "object send from rank " + source + " to rank " + group.rank()));
  }

  /** Casts to the type that the caller expects, which cannot be checked here. */
  @SuppressWarnings({"unchecked", "TypeParameterUnusedInFormals"})
  private static <T> T cast(Object object) {
    return (T) object;
  }
}
