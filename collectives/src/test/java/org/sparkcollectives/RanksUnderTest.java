package org.sparkcollectives;

import java.util.List;
import org.sparkcollectives.testing.GroupRuns;

/** The paths between ranks that a contract is tested on. */
interface RanksUnderTest {

  /** Runs {@code body} as each of {@code size} ranks, and returns the results in rank order. */
  <T> List<T> ranks(int size, GroupRuns.Body<T> body);
}
