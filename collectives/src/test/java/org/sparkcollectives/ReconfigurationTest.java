package org.sparkcollectives;

import java.util.List;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.Parameter;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.MethodSource;
import org.sparkcollectives.spi.HostedGroups;
import org.sparkcollectives.store.HashStore;
import org.sparkcollectives.testing.InvocationName;
import org.sparkcollectives.testing.LeakCheck;
import org.sparkcollectives.testing.Paths;
import org.sparkcollectives.testing.RankThreads;

/** Runs the contracts of reconfigurable groups. */
@ExtendWith({LeakCheck.class, InvocationName.class})
@ParameterizedClass(name = "{0}")
@MethodSource("paths")
class ReconfigurationTest
    implements ReconfigurationContract, ReconfigurationRulesContract, ReconfigurationEndsContract {

  @Parameter private Paths paths;

  static List<Paths> paths() {
    return Paths.named(
        List.of(Paths.HEAP, Paths.DETAIL, Paths.TCP, Paths.TLS, Paths.SHM, Paths.INTERLEAVED));
  }

  @Override
  public <T> List<T> members(int size, Body<T> body) {
    try (HashStore store = new HashStore()) {
      return RankThreads.run(
          size,
          rank -> {
            try (ReconfigurableGroup group =
                HostedGroups.reconfigurable(
                    store, rank, size, paths.options(), paths.context(rank), () -> {})) {
              return body.run(new Member(group, rank, size, store));
            }
          });
    }
  }
}
