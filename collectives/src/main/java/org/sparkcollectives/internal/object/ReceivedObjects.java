package org.sparkcollectives.internal.object;

import java.util.Arrays;
import java.util.List;
import java.util.function.Supplier;
import org.sparkcollectives.ObjectSerializationException;

/**
 * The objects of all ranks, as they arrive. One that fails does not prevent the others from being
 * received.
 */
final class ReceivedObjects {

  private final Object[] objects;
  private ObjectSerializationException failure;

  ReceivedObjects(int ranks) {
    objects = new Object[ranks];
  }

  void receive(int rank, Supplier<Object> source) {
    try {
      objects[rank] = source.get();
    } catch (ObjectSerializationException e) {
      if (failure == null) {
        failure = e;
      } else {
        failure.addSuppressed(e);
      }
    }
  }

  /**
   * Returns all objects.
   *
   * @throws ObjectSerializationException if one is missing
   */
  List<Object> inRankOrder() {
    if (failure != null) {
      throw failure;
    }
    return Arrays.stream(objects).toList();
  }
}
