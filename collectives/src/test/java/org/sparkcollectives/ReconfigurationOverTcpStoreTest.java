package org.sparkcollectives;

import java.util.List;
import org.junit.jupiter.api.extension.ExtendWith;
import org.sparkcollectives.store.Store;
import org.sparkcollectives.store.TcpStore;
import org.sparkcollectives.store.TcpStoreServer;
import org.sparkcollectives.testing.LeakCheck;
import org.sparkcollectives.testing.RankThreads;

/** Runs the contracts of reconfigurable groups over a store that ranks reach over TCP. */
@ExtendWith(LeakCheck.class)
class ReconfigurationOverTcpStoreTest
    implements ReconfigurationContract, ReconfigurationEndsContract {

  @Override
  public <T> List<T> members(int size, Body<T> body) {
    try (TcpStoreServer server = TcpStore.server("127.0.0.1", 0)) {
      return RankThreads.run(
          size,
          rank -> {
            try (Store store = TcpStore.connect("127.0.0.1", server.port(), PATIENCE);
                ReconfigurableGroup group =
                    ProcessGroups.reconfigurable(store, rank, size, GroupOptions.defaults())) {
              return body.run(new Member(group, rank, size, store));
            }
          });
    }
  }
}
