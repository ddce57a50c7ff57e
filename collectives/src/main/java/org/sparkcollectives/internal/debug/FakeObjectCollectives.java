package org.sparkcollectives.internal.debug;

import java.util.Collections;
import java.util.List;
import org.sparkcollectives.ObjectCollectives;

/**
 * Collectives of objects without any other rank: this rank's object stands for those of all ranks,
 * and nothing is copied.
 *
 * @param rank this rank
 * @param size the number of ranks
 */
record FakeObjectCollectives(int rank, int size) implements ObjectCollectives {

  @Override
  public <T> T broadcast(T objectAtRoot, int root) {
    return objectAtRoot;
  }

  @Override
  public <T> List<T> allGather(T object) {
    return Collections.nCopies(size, object);
  }

  @Override
  public <T> List<T> gather(T object, int root) {
    return rank == root ? Collections.nCopies(size, object) : null;
  }

  /** Returns null on ranks that have not given the objects. */
  @Override
  public <T> T scatter(List<T> objectsAtRoot, int root) {
    return objectsAtRoot == null ? null : objectsAtRoot.get(rank);
  }

  @Override
  public <T> void send(T object, int destination, int tag) {}

  /** Returns null, because no rank has sent anything. */
  @Override
  @SuppressWarnings("TypeParameterUnusedInFormals")
  public <T> T recv(int source, int tag) {
    return null;
  }
}
