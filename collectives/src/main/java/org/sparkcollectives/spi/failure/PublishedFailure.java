package org.sparkcollectives.spi.failure;

import java.util.Arrays;
import java.util.List;
import org.sparkcollectives.Failure;
import org.sparkcollectives.store.Store;

/**
 * The record of a group's failure in the group's part of the store, where the one that tells most
 * about the first cause stays. May be used by any process that sees the store.
 */
public final class PublishedFailure {

  /** The key of the record, in the group's part of the store. */
  public static final String KEY = "failure";

  private static final byte[] ABSENT = {};

  private final Store store;

  /** Creates the record of the group whose keys {@code groupStore} holds. */
  public PublishedFailure(Store groupStore) {
    this.store = groupStore;
  }

  /**
   * Publishes a record, unless a better one is there. Blocks for one store call or a few.
   *
   * @return the record that is there now
   */
  public Failure offer(Failure failure) {
    byte[] mine = FailureCodec.encode(failure);
    byte[] expected = ABSENT;
    while (true) {
      byte[] stored = store.compareSet(KEY, expected, mine);
      if (Arrays.equals(stored, mine)) {
        return failure;
      }
      Failure there = FailureCodec.decode(stored);
      if (!failure.outranks(there)) {
        return there;
      }
      expected = stored;
    }
  }

  /** Returns the best record so far; null if there is none. Blocks for a store call or two. */
  public Failure read() {
    return store.check(List.of(KEY)) ? FailureCodec.decode(store.get(KEY)) : null;
  }
}
