package org.sparkcollectives.store;

import java.util.List;

/**
 * The answer to a {@link StoreRequest} that was granted; which parts are used, its operation says.
 */
record StoreReply(List<StoredValue> values, List<String> keys, long number) {

  /** The number that answers a compare-and-set: the desired value is stored. */
  static final long STORED = 0;

  /** The number that answers a compare-and-set: the current value, which is another, is here. */
  static final long DIFFERENT = 1;

  /** The number that answers a compare-and-set: no such key, but a value was expected. */
  static final long MISSING = 2;

  static final StoreReply DONE = new StoreReply(List.of(), List.of(), 0);

  static StoreReply of(List<StoredValue> values) {
    return new StoreReply(values, List.of(), 0);
  }

  static StoreReply of(long number) {
    return new StoreReply(List.of(), List.of(), number);
  }

  static StoreReply of(boolean answer) {
    return of(answer ? 1 : 0);
  }
}
