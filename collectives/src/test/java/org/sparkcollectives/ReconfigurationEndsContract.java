package org.sparkcollectives;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import org.junit.jupiter.api.Test;

/** Specifies changes that fail, and what the members can do then. */
interface ReconfigurationEndsContract extends ReconfigurableRanks {

  @Test
  default void aMemberThatDoesNotComeIsNamedAndTheOthersGoOnWithoutIt() {
    members(
        3,
        me -> {
          me.together(1);
          List<String> handles = me.collect("of all");
          if (me.rank() < 2) {
            assertThatThrownBy(() -> me.group().reconfigure(2, handles, Duration.ofSeconds(2)))
                .isInstanceOf(CollectiveException.class)
                .hasMessageMatching("(?s).*ranks have not arrived: \\[(1, )?2].*");
            me.is(me.rank(), 3);
            assertThat(me.group().handle()).isEqualTo(handles.get(me.rank()));
            me.reconfigure(3, handles.subList(0, 2));
            me.sums();
          }
          me.meet("end");
          return null;
        });
  }

  @Test
  default void aMemberThatComesTooLateIsToldAtOnce() {
    members(
        2,
        me -> {
          List<String> handles = me.collect("of all");
          if (me.rank() == 0) {
            assertThatThrownBy(() -> me.group().reconfigure(1, handles, Duration.ofMillis(200)))
                .isInstanceOf(CollectiveTimeoutException.class);
          }
          me.meet("too late");
          if (me.rank() == 1) {
            assertThatThrownBy(() -> me.reconfigure(1, handles))
                .isInstanceOf(CollectiveException.class)
                .hasMessageContaining("rank 1")
                .hasMessageContaining("1 of 2 ranks have not arrived: [1]");
          }
          me.reconfigure(2, handles);
          me.sums();
          return null;
        });
  }

  @Test
  default void closingEndsAChangeAndTellsTheOthers() {
    // Rank 1 does not come, so the change cannot succeed before.
    members(
        3,
        me -> {
          List<String> handles = me.collect("of all");
          if (me.rank() == 2) {
            CompletableFuture<Void> change =
                CompletableFuture.runAsync(() -> me.reconfigure(1, handles));
            me.store().get(me.group().name() + "/reconfigured-1/rendezvous/2");
            me.group().close();
            assertThatThrownBy(change::join)
                .isInstanceOf(CompletionException.class)
                .hasCauseInstanceOf(IllegalStateException.class)
                .hasMessageContaining("was closed on rank 2 during reconfigure");
          } else if (me.rank() == 0) {
            assertThatThrownBy(() -> me.reconfigure(1, handles))
                .isInstanceOfSatisfying(
                    PeerFailedException.class, e -> assertThat(e.failure().rank()).isEqualTo(2))
                .hasMessageContaining("during reconfigure");
            me.alone(2);
          }
          me.meet("end");
          return null;
        });
  }

  @Test
  default void anAbortEndsAChangeAndTellsTheOthers() {
    members(
        3,
        me -> {
          List<String> handles = me.collect("of all");
          if (me.rank() == 2) {
            CompletableFuture<Void> change =
                CompletableFuture.runAsync(() -> me.reconfigure(1, handles));
            me.store().get(me.group().name() + "/reconfigured-1/rendezvous/2");
            assertThatThrownBy(() -> me.alone(7)).hasMessageContaining("by another thread");
            me.group().abort(new IllegalStateException("told to"));
            assertThatThrownBy(change::join).hasCauseInstanceOf(GroupAbortedException.class);
          } else if (me.rank() == 0) {
            assertThatThrownBy(() -> me.reconfigure(1, handles))
                .isInstanceOfSatisfying(
                    PeerFailedException.class, e -> assertThat(e.failure().rank()).isEqualTo(2))
                .hasMessageContaining("told to");
          }
          me.meet("aborted");
          me.together(2);
          me.sums();
          return null;
        });
  }

  @Test
  default void anAttemptThatFailedUsesUpItsNumber() {
    members(
        2,
        me -> {
          List<String> handles = me.collect("of all");
          if (me.rank() == 0) {
            assertThatThrownBy(() -> me.group().reconfigure(1, handles, Duration.ofMillis(200)))
                .isInstanceOf(CollectiveTimeoutException.class);
            assertThatThrownBy(() -> me.reconfigure(1, handles))
                .hasMessageContaining("was already used");
          }
          me.meet("end");
          return null;
        });
  }

  @Test
  default void operationsThatWaitForARankThatWentOnEndWithTheGroupBefore() {
    members(
        3,
        me -> {
          me.together(1);
          List<String> handles = me.collect("of all");
          if (me.rank() == 2) {
            ProcessGroup before = me.group().group(me.group().name() + "/reconfigured-1");
            assertThatThrownBy(() -> before.allReduce(Tensor.of(1f)).await())
                .isInstanceOf(PeerFailedException.class)
                .hasMessageContaining("has finished");
          } else {
            me.reconfigure(2, handles.subList(0, 2));
            me.sums();
          }
          me.meet("end");
          return null;
        });
  }
}
