package org.sparkcollectives;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.sparkcollectives.net.TransportSecurity;
import org.sparkcollectives.spi.HostedGroups;
import org.sparkcollectives.store.HashStore;
import org.sparkcollectives.testing.LeakCheck;
import org.sparkcollectives.testing.RankThreads;

/** Kills the task of a rank that is being reconfigured. */
@ExtendWith(LeakCheck.class)
class ReconfigurationKillTest {

  private static final int SIZE = 3;

  /** A task that can be killed. */
  private static final class Task extends HostedRank {
    private final AtomicBoolean killed = new AtomicBoolean();
    private final AtomicInteger joined = new AtomicInteger();

    Task() {
      super(List.of(), TransportSecurity.plain());
    }

    @Override
    public boolean isKilled() {
      return killed.get();
    }

    @Override
    public String killReason() {
      return "preempted";
    }

    @Override
    public void joined(String group, Failure ifLost) {
      joined.incrementAndGet();
    }

    @Override
    public void left(String group) {
      joined.decrementAndGet();
    }
  }

  @Test
  void aKillEndsTheChangeAndTheOthersGoOnWithoutTheRank() {
    try (HashStore store = new HashStore()) {
      RankThreads.run(
          SIZE,
          rank -> {
            Task task = new Task();
            AtomicInteger closed = new AtomicInteger();
            try (ReconfigurableGroup group =
                HostedGroups.reconfigurable(
                    store, rank, SIZE, GroupOptions.defaults(), task, closed::incrementAndGet)) {
              run(new ReconfigurableRanks.Member(group, rank, SIZE, store), task);
            }
            // Each group that the task has joined was left, the store's owner was told once.
            assertThat(task.joined).hasValue(0);
            assertThat(closed).hasValue(1);
            return null;
          });
    }
  }

  private static void run(ReconfigurableRanks.Member me, Task task) {
    me.together(1);
    List<String> handles = me.collect("of all");
    if (me.rank() == 2) {
      Thread killer =
          new Thread(
              () -> {
                me.store().get(me.group().name() + "/reconfigured-2/rendezvous/2");
                task.killed.set(true);
              });
      killer.start();
      assertThatThrownBy(() -> me.reconfigure(2, handles))
          .isInstanceOf(GroupAbortedException.class)
          .hasMessageContaining("preempted");
    } else {
      if (me.rank() == 0) {
        assertThatThrownBy(() -> me.reconfigure(2, handles))
            .isInstanceOfSatisfying(
                PeerFailedException.class, e -> assertThat(e.failure().rank()).isEqualTo(2))
            .hasMessageContaining("was killed");
      }
      me.reconfigure(3, handles.subList(0, 2));
      me.sums();
    }
    me.meet("end");
  }
}
