package org.sparkcollectives;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** Specifies what a reconfigurable group refuses, and what follows its changes. */
interface ReconfigurationRulesContract extends ReconfigurableRanks {

  @Test
  default void nothingWorksBeforeTheFirstChangeButWhatNeedsNoMembers() {
    members(
        2,
        me -> {
          ReconfigurableGroup group = me.group();
          assertThat(group.rank()).isEqualTo(me.rank());
          assertThat(group.size()).isEqualTo(2);
          assertThat(group.isFailed()).isFalse();
          assertThat(group.failure()).isEmpty();
          group.abort(new IllegalStateException("nothing to end"));
          assertThatThrownBy(me::sums)
              .isInstanceOf(IllegalStateException.class)
              .hasMessageContaining("rank " + me.rank() + " of 2")
              .hasMessageContaining("call reconfigure()");
          assertThatThrownBy(group::hosts).isInstanceOf(IllegalStateException.class);
          group.close();
          assertThatThrownBy(me::sums)
              .isInstanceOf(IllegalStateException.class)
              .hasMessageContaining("is closed on rank " + me.rank());
          assertThatThrownBy(() -> me.alone(1)).hasMessageContaining("is closed");
          return null;
        });
  }

  @Test
  default void wrongHandlesAreRefusedAndChangeNothing() {
    members(
        2,
        me -> {
          me.together(1);
          String own = me.group().handle();
          String where = "rank " + me.rank() + " of group \"" + me.group().name() + "\"";
          refuses(me, List.of(), "Reconfigure requires at least one handle", where);
          refuses(me, List.of(own, own), "Reconfigure handles must be unique", where);
          refuses(me, List.of(own, "rubbish"), "Invalid Spark reconfigure handle: rubbish", where);
          String tooLarge = "spark:99999999999:new:0:0123456789abcdef";
          refuses(
              me, List.of(own, tooLarge), "Invalid Spark reconfigure handle: " + tooLarge, where);
          String missing = "Local Spark reconfigure handle is not part of the new communicator";
          refuses(me, List.of("spark:0:new:0:0123456789abcdef"), missing, own);
          assertThatThrownBy(() -> me.group().reconfigure(2, List.of(own), Duration.ZERO))
              .hasMessageContaining("timeout");
          assertThat(me.group().handle()).isEqualTo(own);
          me.is(me.rank(), 2);
          me.sums();
          // No number was used up.
          me.together(2);
          me.sums();
          return null;
        });
  }

  private static void refuses(Member me, List<String> handles, String... parts) {
    refuses(me, 2, handles, parts);
  }

  private static void refuses(Member me, long uuid, List<String> handles, String... parts) {
    assertThatThrownBy(() -> me.reconfigure(uuid, handles))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContainingAll(parts);
  }

  @Test
  default void aHandleOfTheGroupBeforeIsRefused() {
    members(
        2,
        me -> {
          List<String> before = me.collect("before");
          me.reconfigure(1, before);
          refuses(me, before, "is not part of the new communicator", "collect them anew");
          return null;
        });
  }

  @Test
  default void membersThatDisagreeAreAllTold() {
    members(
        3,
        me -> {
          List<String> handles = new ArrayList<>(me.collect("of all"));
          if (me.rank() == 1) {
            Collections.swap(handles, 0, 2);
          }
          assertThatThrownBy(() -> me.reconfigure(1, handles))
              .satisfiesAnyOf(
                  e ->
                      assertThat(e)
                          .isInstanceOf(IllegalArgumentException.class)
                          .hasMessageContaining("differ between members"),
                  e ->
                      assertThat(e)
                          .isInstanceOf(PeerFailedException.class)
                          .hasMessageContaining("differ between members"));
          me.together(2);
          me.sums();
          return null;
        });
  }

  @Test
  default void aMemberWithItsRankInAnotherListIsNotTakenForAnother() {
    members(
        3,
        me -> {
          List<String> handles = new ArrayList<>(me.collect("of all"));
          if (me.rank() == 2) {
            Collections.rotate(handles, 1);
          }
          assertThatThrownBy(() -> me.reconfigure(1, handles))
              .isNotInstanceOf(GroupAbortedException.class)
              .satisfiesAnyOf(
                  e -> assertThat(e).hasMessageContaining("differ between members"),
                  e -> assertThat(e).hasMessageContaining("uuid 1 was already used"));
          me.together(2);
          me.sums();
          return null;
        });
  }

  @Test
  default void aMistakenCallIsToldToThoseThatWaitAndBlamesNoneOfThem() {
    members(
        3,
        me -> {
          List<String> handles = me.collect("of all");
          if (me.rank() == 2) {
            // Rank 0 has come.
            me.store().withPrefix(me.group().name()).get("reconfigure/1/claimed");
            refuses(me, 1, List.of(me.group().handle()), "uuid 1 was already used");
          } else {
            assertThatThrownBy(() -> me.reconfigure(1, handles))
                .isInstanceOf(PeerFailedException.class)
                .hasMessageContaining("uuid 1 was already used");
          }
          me.together(2);
          me.sums();
          return null;
        });
  }

  @Test
  default void aMemberWithAnOldAndANewHandleIsOne() {
    members(
        2,
        me -> {
          List<String> before = me.collect("before");
          me.reconfigure(1, before);
          List<String> both = List.of(me.group().handle(), before.get(me.rank()));
          refuses(me, both, "Reconfigure handles must be unique", "collect them anew");
          me.together(2);
          me.sums();
          return null;
        });
  }

  @Test
  default void membersInNoOrderKeepTheirOrder() {
    members(
        3,
        me -> {
          List<String> handles = me.collect("of all");
          me.group().reconfigure(1, List.of(handles.get(2), handles.get(0), handles.get(1)));
          assertThat(me.group().rank()).isEqualTo((me.rank() + 1) % 3);
          me.group().reconfigure(2, new HashSet<>(me.collect("again")), PATIENCE);
          me.is(me.rank(), 3);
          me.sums();
          return null;
        });
  }

  @Test
  default void numbersOfOperationsBeginAgain() {
    members(
        2,
        me -> {
          me.together(1);
          long first = me.group().barrier().sequenceNumber();
          me.sums();
          me.together(2);
          Work barrier = me.group().barrier();
          assertThat(barrier.sequenceNumber()).isEqualTo(first);
          barrier.await();
          assertThat(me.group().flightRecorder().records()).hasSize(1);
          assertThat(me.group().group(me.group().name() + "/reconfigured-2").size()).isEqualTo(2);
          return null;
        });
  }

  @Test
  default void viewsAndHooksFollowAndGroupsMadeFromItDoNot() {
    members(
        2,
        me -> {
          LinkedBlockingQueue<String> barriers = new LinkedBlockingQueue<>();
          me.group()
              .onCompletion(
                  record -> {
                    if (record.opType() == OpType.BARRIER) {
                      barriers.add(record.group());
                    }
                  });
          me.group().setNanCheck(true);
          ProcessGroup view = me.group().withTimeout(Duration.ofMinutes(2));
          assertThat(view).isEqualTo(me.group()).hasSameHashCodeAs(me.group());
          assertThat(me.group()).isEqualTo(view);
          me.together(1);
          ProcessGroup half = me.group().split(0, 0);
          assertThat(me.group().groups()).containsExactly(half);
          assertThat(me.group().group(me.group().name())).isEqualTo(me.group());
          view.barrier().await();
          assertThat(barriers.poll(PATIENCE.toSeconds(), TimeUnit.SECONDS))
              .isEqualTo(me.group().name() + "/reconfigured-1");
          me.alone(2 + me.rank());
          assertThat(view.size()).isEqualTo(1);
          view.close();
          assertThat(view.timeout()).isEqualTo(Duration.ofMinutes(2));
          view.barrier().await();
          assertThat(barriers.poll(PATIENCE.toSeconds(), TimeUnit.SECONDS))
              .isEqualTo(me.group().name() + "/reconfigured-" + (2 + me.rank()));
          assertThatThrownBy(() -> view.allReduce(Tensor.of(Float.NaN)))
              .hasMessageContaining("is not a number");
          assertThat(me.group().groups()).isEmpty();
          me.meet("end");
          return null;
        });
  }
}
