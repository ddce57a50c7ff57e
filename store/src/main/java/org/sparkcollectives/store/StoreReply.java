package org.sparkcollectives.store;

import java.util.List;

/**
 * The answer to a {@link StoreRequest} that was granted. The operation determines which parts are
 * used.
 */
record StoreReply(List<StoredValue> values, List<String> keys, long number) {

  /** Answers a compare-and-set: the desired value is stored. */
  static final long STORED = 0;

  /** Answers a compare-and-set: the current value differs, and is in the reply. */
  static final long DIFFERENT = 1;

  /** Answers a compare-and-set: a value was expected, but the key does not exist. */
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
