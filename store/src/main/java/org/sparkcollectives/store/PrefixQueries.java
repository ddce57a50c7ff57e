package org.sparkcollectives.store;

import java.util.List;

/**
 * The queries by prefix that a store answers for its views, so that keys outside the prefix are
 * never sent.
 */
interface PrefixQueries {

  /** Returns the number of keys that start with {@code keyPrefix}. */
  long countKeys(String keyPrefix);

  /** Returns the keys that start with {@code keyPrefix}, including the prefix. */
  List<String> keysUnder(String keyPrefix);

  /**
   * Returns the queries of {@code store} itself if it has them; otherwise queries that go over all
   * its keys.
   */
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
