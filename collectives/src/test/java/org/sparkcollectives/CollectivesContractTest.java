package org.sparkcollectives;

import java.util.List;
import org.junit.jupiter.api.extension.ExtendWith;
import org.sparkcollectives.testing.GroupRuns;
import org.sparkcollectives.testing.LeakCheck;

/** What every path between ranks must do. */
@ExtendWith(LeakCheck.class)
abstract class CollectivesContractTest
    implements ReductionsContract, DistributionContract, MessagesContract, EndOfGroupContract {

  /** The paths under test. */
  abstract GroupOptions options();

  /** What hosts the ranks. */
  RankContext context() {
    return RankContext.process();
  }

  /** What hosts one rank. */
  RankContext context(int rank) {
    return context();
  }

  @Override
  public final <T> List<T> ranks(int size, GroupRuns.Body<T> body) {
    return GroupRuns.run(size, options(), this::context, body);
  }
}
