package org.sparkcollectives;

import java.io.IOException;
import java.net.URI;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.util.Map;
import org.sparkcollectives.store.Store;

/**
 * Creates what the static methods of this package return. The library has one implementation, which
 * is loaded by its name, so that this package depends on no other one of the library. Programs call
 * {@link Tensor}, {@link ProcessGroups} and {@link Rendezvous} instead.
 */
public interface CollectivesProvider {

  /** Returns the implementation. */
  static CollectivesProvider implementation() {
    return Library.PROVIDER;
  }

  /** Returns the tensor of {@link Tensor#wrap(DType, Object)}. */
  Tensor wrap(DType dtype, Object primitiveArray);

  /** Returns the tensor of {@link Tensor#wrap(DType, ByteBuffer)}. */
  Tensor wrap(DType dtype, ByteBuffer direct);

  /** Returns the tensor of {@link Tensor#allocate(DType, long)}. */
  Tensor allocate(DType dtype, long count);

  /**
   * Returns the number of elements of a shape.
   *
   * @throws IllegalArgumentException if an extent is negative or the product exceeds a {@code long}
   */
  long count(long... shape);

  /** Returns the memory of {@link SharedMemory#create}. */
  SharedMemory sharedMemory(Path folder, long bytes) throws IOException;

  /** Returns the group of {@link ProcessGroups#create}. Blocks as it does. */
  ProcessGroup create(Store store, int rank, int size, GroupOptions options);

  /**
   * Returns the group of {@link Rendezvous#join(String, GroupOptions)}. Blocks as it does.
   *
   * @param handler opens the URL
   */
  ProcessGroup join(URI url, RendezvousHandler handler, GroupOptions options);

  /** Returns the handlers of the schemes that the library knows, by scheme. */
  Map<String, RendezvousHandler> rendezvousHandlers();
}
