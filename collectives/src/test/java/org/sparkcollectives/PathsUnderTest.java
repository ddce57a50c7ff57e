package org.sparkcollectives;

import java.util.List;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.Parameter;
import org.junit.jupiter.params.ParameterizedClass;
import org.sparkcollectives.store.Store;
import org.sparkcollectives.testing.GroupRuns;
import org.sparkcollectives.testing.InvocationName;
import org.sparkcollectives.testing.LeakCheck;
import org.sparkcollectives.testing.Paths;

/**
 * Runs the ranks of a contract on threads of this JVM, over each of the {@link Paths} that the
 * subclass names by a {@code MethodSource}.
 */
@ExtendWith({LeakCheck.class, InvocationName.class})
@ParameterizedClass(name = "{0}")
abstract class PathsUnderTest implements RanksUnderTest {

  @Parameter private Paths paths;

  @Override
  public final <T> List<T> ranks(Store store, int size, GroupRuns.Body<T> body) {
    return GroupRuns.run(store, size, paths.options(), paths::context, body);
  }
}
