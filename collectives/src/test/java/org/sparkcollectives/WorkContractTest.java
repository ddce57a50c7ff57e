package org.sparkcollectives;

import java.util.List;
import org.junit.jupiter.api.extension.ExtendWith;
import org.sparkcollectives.testing.GroupRuns;
import org.sparkcollectives.testing.LeakCheck;

/** What a work tells, and what waiting for it means, for every operation. */
@ExtendWith(LeakCheck.class)
abstract class WorkContractTest implements WaitingContract, WorkResultsContract {

  /** The paths under test. */
  abstract GroupOptions options();

  /** What hosts one rank. */
  RankContext context(int rank) {
    return RankContext.process();
  }

  @Override
  public final <T> List<T> ranks(int size, GroupRuns.Body<T> body) {
    return GroupRuns.run(size, options(), this::context, body);
  }
}
