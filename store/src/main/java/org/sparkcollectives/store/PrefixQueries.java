package org.sparkcollectives.store;

import java.util.List;

/**
 * What a store does for the views on its prefixes, so that the keys beside them stay where they
 * are.
 */
interface PrefixQueries {

  /** The number of keys that start with {@code keyPrefix}. */
  long countKeys(String keyPrefix);

  /** The keys that start with {@code keyPrefix}, whole. */
  List<String> keysUnder(String keyPrefix);

  /** The queries of {@code store}: its own where it has them, else over all its keys. */
  static PrefixQueries of(Store store) {
    if (store instanceof PrefixQueries queries) {
      return queries;
    }
    return new PrefixQueries() {
      @Override
      public long countKeys(String keyPrefix) {
        return keysUnder(keyPrefix).size();
      }

      @Override
      public List<String> keysUnder(String keyPrefix) {
        return store.listKeys().stream().filter(key -> key.startsWith(keyPrefix)).toList();
      }
    };
  }
}
