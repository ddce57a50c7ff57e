package org.sparkcollectives;

import java.util.List;
import org.junit.jupiter.api.extension.ExtendWith;
import org.sparkcollectives.store.Store;
import org.sparkcollectives.testing.GroupRuns;
import org.sparkcollectives.testing.LeakCheck;

/**
 * Ranks on threads of this JVM, which a subclass's options and hosts keep as far apart as needed.
 */
@ExtendWith(LeakCheck.class)
abstract class PathsUnderTest implements RanksUnderTest {

  /** The paths under test. */
  abstract GroupOptions options();

  /** What hosts one rank. */
  RankContext context(int rank) {
    return RankContext.process();
  }

  @Override
  public final <T> List<T> ranks(Store store, int size, GroupRuns.Body<T> body) {
    return GroupRuns.run(store, size, options(), this::context, body);
  }
}
