package org.sparkcollectives;

import java.util.List;

/**
 * Collectives and messages of Java objects. Get them from {@link ProcessGroup#objects()}.
 *
 * <p><b>Size.</b> An object is sent while it is being serialised, in frames of at most 4 MiB, and
 * the receiver reads the frames as they come. Beside the object itself a rank needs a few frames of
 * memory, whatever the object's size. An object of less than about 1 KiB travels in a single
 * operation of the group.
 *
 * <p><b>Blocking.</b> All methods block until this rank has its result, for the group's {@link
 * ProcessGroup#timeout} at the most. It bounds the whole call, including the serialising of all
 * objects and the wait for the ranks whose turn is earlier. When it has passed, the group fails, as
 * after an operation on tensors; {@link ProcessGroup#withTimeout} gives large objects more time.
 * Each call consists of several operations of the group, so while one runs, no other thread may
 * begin a collective of the same group, or a message of objects with the same peer and tag. Objects
 * and tensors share their tags.
 *
 * <p><b>Copies.</b> A rank that has given an object gets that very object back, not a copy. Null is
 * a valid object.
 *
 * <p><b>What can be sent</b> depends on the rank's {@link
 * org.sparkcollectives.spi.RankContext#objectCodec()}. Bytes are deserialised only from ranks that
 * have proven to belong to the group.
 *
 * <p><b>Errors.</b> An object that cannot be serialised on one rank, or not be read on another,
 * throws {@link ObjectSerializationException}, and the group stays usable. A failed serialisation
 * throws on all ranks for which the object was. A failed deserialisation, for want of a class for
 * instance, throws on that rank only. All other errors are as for tensors.
 *
 * <p>The semantics follow the object collectives of PyTorch's c10d, except for errors, which there
 * leave the other ranks waiting.
 */
public interface ObjectCollectives {

  /**
   * Sends the object of rank {@code root} to all ranks, and returns it.
   *
   * @param objectAtRoot ignored on other ranks, which may pass null
   */
  <T> T broadcast(T objectAtRoot, int root);

  /** Returns the objects of all ranks, in rank order, on all ranks. */
  <T> List<T> allGather(T object);

  /**
   * Returns the objects of all ranks, in rank order, at {@code root}.
   *
   * @return null except at the root
   */
  <T> List<T> gather(T object, int root);

  /**
   * Sends each rank one of the objects of {@code root}, and returns this rank's. An object that
   * cannot be serialised throws at the root and on the rank that it was for; the others get theirs.
   *
   * @param objectsAtRoot one for each rank; ignored on other ranks, which may pass null
   */
  <T> T scatter(List<T> objectsAtRoot, int root);

  /**
   * Sends an object to one rank. Returns when the peer has received all of it.
   *
   * @param tag 0 or more
   */
  <T> void send(T object, int destination, int tag);

  /** Sends an object with the tag 0, c10d's default. */
  default <T> void send(T object, int destination) {
    send(object, destination, 0);
  }

  /**
   * Receives an object that one rank sends with this tag.
   *
   * @param <T> what the caller knows the object to be; another type throws {@link
   *     ClassCastException} where it is used
   */
  @SuppressWarnings("TypeParameterUnusedInFormals")
  <T> T recv(int source, int tag);

  /** Receives an object with the tag 0, c10d's default. */
  @SuppressWarnings("TypeParameterUnusedInFormals")
  default <T> T recv(int source) {
    return recv(source, 0);
  }
}
