package org.sparkcollectives;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Specifies what a change of members makes: the cases of c10d's tests of {@code reconfigure}. */
interface ReconfigurationContract extends ReconfigurableRanks {

  @Test
  default void allBecomeMembersWithTheirRanks() {
    members(
        3,
        me -> {
          String before = me.group().handle();
          me.together(100);
          assertThat(me.group().handle()).isNotEqualTo(before);
          assertThat(me.collect("after")).doesNotHaveDuplicates();
          return null;
        });
  }

  @Test
  default void aReductionFollows() {
    members(
        3,
        me -> {
          me.together(200);
          me.sums();
          return null;
        });
  }

  @Test
  default void messagesFollow() {
    members(
        3,
        me -> {
          me.together(300);
          float[] in = new float[4];
          float own = me.rank() + 1;
          Work send = me.group().send(Tensor.of(own, own, own, own), (me.rank() + 1) % me.all(), 0);
          int from = (me.rank() + 2) % me.all();
          Work receive = me.group().recv(Tensor.of(in), from, 0);
          send.await();
          receive.await();
          assertThat(in).containsOnly(from + 1);
          return null;
        });
  }

  @Test
  default void theLastRankIsLeftOut() {
    members(
        3,
        me -> {
          me.together(400);
          List<String> handles = me.collect("of all");
          if (me.rank() < 2) {
            me.reconfigure(401, handles.subList(0, 2));
            me.is(me.rank(), 2);
            me.sums();
            float[] sent = {me.group().rank() == 0 ? 42 : 0};
            me.group().broadcast(Tensor.of(sent), 0).await();
            assertThat(sent).containsExactly(42);
          }
          me.meet("end");
          return null;
        });
  }

  @Test
  default void aMiddleRankIsLeftOut() {
    members(
        3,
        me -> {
          me.together(500);
          List<String> handles = me.collect("of all");
          if (me.rank() != 1) {
            me.reconfigure(501, List.of(handles.get(0), handles.get(2)));
            me.is(me.rank() / 2, 2);
            me.sums();
          }
          me.meet("end");
          return null;
        });
  }

  @Test
  default void eachIsAloneThenAllAreTogetherThenEachIsAlone() {
    members(
        3,
        me -> {
          me.alone(600 + me.rank());
          me.together(603);
          me.alone(604 + me.rank());
          me.meet("end");
          return null;
        });
  }

  @Test
  default void groupsOfOneBecomeOneGroup() {
    members(
        3,
        me -> {
          me.alone(700 + me.rank());
          me.together(703);
          me.sums();
          return null;
        });
  }

  @Test
  default void theSameMembersMakeAnotherGroup() {
    members(
        3,
        me -> {
          me.together(800);
          me.together(801);
          me.sums();
          return null;
        });
  }

  @Test
  default void ranksJoinLater() {
    members(
        3,
        me -> {
          if (me.rank() == 0) {
            me.alone(900);
          }
          me.together(901);
          me.sums();
          return null;
        });
  }

  @Test
  default void groupsThatWereSplitBecomeOne() {
    members(
        3,
        me -> {
          List<String> handles = me.collect("of all");
          if (me.rank() == 0) {
            me.reconfigure(1000, handles.subList(0, 1));
          } else {
            me.reconfigure(1001, handles.subList(1, 3));
            me.is(me.rank() - 1, 2);
          }
          me.together(1002);
          me.sums();
          return null;
        });
  }

  @Test
  default void anAbortedGroupComesBack() {
    members(
        3,
        me -> {
          me.together(1200);
          me.group().abort(new IllegalStateException("told to"));
          assertThat(me.group().isFailed()).isTrue();
          assertThatThrownBy(me::sums).isInstanceOf(CollectiveException.class);
          me.together(1201);
          assertThat(me.group().isFailed()).isFalse();
          me.sums();
          return null;
        });
  }

  @Test
  default void aGroupThatMissedADeadlineComesBack() {
    members(
        3,
        me -> {
          me.together(1300);
          me.sums();
          if (me.rank() != 0) {
            ProcessGroup hurried = me.group().withTimeout(Duration.ofMillis(300));
            assertThatThrownBy(() -> hurried.allReduce(Tensor.of(1f)).await())
                .isInstanceOf(CollectiveException.class);
            assertThat(me.group().isFailed()).isTrue();
          }
          me.meet("failed");
          me.together(1301);
          me.sums();
          return null;
        });
  }

  @Test
  default void aNumberIsNotUsedTwice() {
    members(
        3,
        me -> {
          int uuid = 1100 + me.rank();
          me.alone(uuid);
          assertThatThrownBy(() -> me.reconfigure(uuid, List.of(me.group().handle())))
              .isInstanceOf(IllegalArgumentException.class)
              .hasMessageContaining(
                  "Spark reconfigure uuid "
                      + uuid
                      + " was already used; each reconfigure() requires a unique uuid");
          me.is(0, 1);
          me.sums();
          return null;
        });
  }
}
