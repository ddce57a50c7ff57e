package org.sparkcollectives.store;

import org.sparkcollectives.config.Configuration;

/**
 * A store in the memory of this process, for ranks that are its threads. Closing it drops the data.
 */
public final class HashStore extends TableStore {

  /** Creates an empty store with the default timeout. */
  public HashStore() {
    super(
        new StoreTable(),
        "HashStore",
        Configuration.ofSystemProperties().get(StoreConfiguration.TIMEOUT));
  }

  @Override
  void release() {
    table().close();
  }
}
