package org.sparkcollectives;

import java.util.List;
import org.junit.jupiter.api.extension.ExtendWith;
import org.sparkcollectives.spi.RankContext;
import org.sparkcollectives.store.Store;
import org.sparkcollectives.testing.GroupRuns;
import org.sparkcollectives.testing.LeakCheck;

/** Runs ranks on threads of this JVM, over the paths that a subclass's options and hosts select. */
@ExtendWith(LeakCheck.class)
abstract class PathsUnderTest implements RanksUnderTest {

  /** Returns the options with the paths under test. */
  abstract GroupOptions options();

  /** Returns what hosts one rank. */
  RankContext context(int rank) {
    return RankContext.process();
  }

  @Override
  public final <T> List<T> ranks(Store store, int size, GroupRuns.Body<T> body) {
    return GroupRuns.run(store, size, options(), this::context, body);
  }
}
