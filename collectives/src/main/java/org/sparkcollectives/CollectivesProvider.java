package org.sparkcollectives;

import java.net.URI;
import org.sparkcollectives.store.Store;

/**
 * Creates what the static methods of this package return. The library has one implementation, which
 * is loaded by its name, so that this package does not depend on it. This type is public only
 * because the implementation is in another package. Programs call {@link Tensor}, {@link
 * ProcessGroups} and {@link Rendezvous} instead.
 */
public interface CollectivesProvider extends TensorProvider, SharedMemoryProvider {

  /** Returns the implementation. */
  static CollectivesProvider implementation() {
    return Library.as(CollectivesProvider.class);
  }

  /** Returns the group of {@link ProcessGroups#create}. Blocks as it does. */
  ProcessGroup create(Store store, int rank, int size, GroupOptions options);

  /** Returns the group of {@link ProcessGroups#reconfigurable}. Does not block. */
  ReconfigurableGroup reconfigurable(Store store, int rank, int size, GroupOptions options);

  /** Returns the group of {@link Rendezvous#join(String, GroupOptions)}. Blocks as it does. */
  ProcessGroup join(URI url, GroupOptions options);
}
