package org.sparkcollectives;

import java.net.URI;
import java.util.Map;
import org.sparkcollectives.store.Store;

/**
 * Creates what the static methods of this package return. The library has one implementation, which
 * is loaded by its name, so that this package depends on no other one of the library. Programs call
 * {@link Tensor}, {@link ProcessGroups} and {@link Rendezvous} instead.
 */
public interface CollectivesProvider extends TensorProvider, SharedMemoryProvider {

  /** Returns the implementation. */
  static CollectivesProvider implementation() {
    return Library.as(CollectivesProvider.class);
  }

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
