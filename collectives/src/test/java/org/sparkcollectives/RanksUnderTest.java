package org.sparkcollectives;

import java.util.List;
import org.sparkcollectives.store.HashStore;
import org.sparkcollectives.store.Store;
import org.sparkcollectives.testing.GroupRuns;

/** The ranks on which a contract is tested, over some path. */
interface RanksUnderTest {

  /** Runs {@code body} as each of {@code size} ranks, and returns the results in rank order. */
  default <T> List<T> ranks(int size, GroupRuns.Body<T> body) {
    try (HashStore store = new HashStore()) {
      return ranks(store, size, body);
    }
  }

  /** Runs {@code body} as each rank, over a store that the test may look into. */
  <T> List<T> ranks(Store store, int size, GroupRuns.Body<T> body);
}
