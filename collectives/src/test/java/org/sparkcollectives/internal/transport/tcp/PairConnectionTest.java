package org.sparkcollectives.internal.transport.tcp;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.netty.channel.Channel;
import io.netty.channel.embedded.EmbeddedChannel;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.sparkcollectives.internal.transport.StreamEnd;
import org.sparkcollectives.internal.transport.tcp.PairConnection.State;
import org.sparkcollectives.testing.Threads;

/** The transitions of a connection, in each order in which they can come. */
class PairConnectionTest {

  private static final int ROUNDS = 2_000;

  private final PairConnection<End> connection = new PairConnection<>();
  private final EmbeddedChannel channel = new EmbeddedChannel();
  private final End end = new End();
  private final AtomicInteger cancelled = new AtomicInteger();
  private final List<Channel> closing = new ArrayList<>();

  /** Counts how often it is closed. */
  private static final class End implements StreamEnd {
    private final AtomicInteger closed = new AtomicInteger();

    @Override
    public void close() {
      closed.incrementAndGet();
    }
  }

  private void begin() {
    assertThat(connection.begin()).isTrue();
    connection.attempt(cancelled::incrementAndGet);
  }

  private void close() {
    connection.close(closing::add);
  }

  private void open() {
    begin();
    connection.opened(channel, end);
  }

  private void requireThatNothingIsLeft() {
    assertThat(end.closed).hasValue(1);
    assertThat(channel.isOpen()).isFalse();
    assertThat(connection.end()).isNull();
    assertThat(connection.isConnected()).isFalse();
  }

  @Test
  void isMadeByTheFirstWhoWantsIt() {
    assertThat(connection.state()).isEqualTo(State.NEW);
    begin();
    assertThat(connection.state()).isEqualTo(State.OPENING);
    assertThat(connection.begin()).isFalse();
    assertThat(connection.end()).isNull();
    connection.opened(channel, end);
    assertThat(connection.state()).isEqualTo(State.OPEN);
    assertThat(connection.begin()).isFalse();
    assertThat(connection.end()).isSameAs(end);
    assertThat(connection.channel()).isSameAs(channel);
    assertThat(connection.isConnected()).isTrue();
    assertThat(cancelled).hasValue(0);
  }

  @Test
  void isMadeByThePeerWithoutAnAttempt() {
    connection.opened(channel, end);
    assertThat(connection.state()).isEqualTo(State.OPEN);
    assertThat(connection.end()).isSameAs(end);
  }

  @Test
  void aSecondOneIsClosedAndLeavesTheFirst() {
    open();
    EmbeddedChannel second = new EmbeddedChannel();
    End secondEnd = new End();
    connection.opened(second, secondEnd);
    assertThat(second.isOpen()).isFalse();
    assertThat(secondEnd.closed).hasValue(1);
    assertThat(connection.end()).isSameAs(end);
    assertThat(channel.isOpen()).isTrue();
    assertThat(end.closed).hasValue(0);
    connection.attempt(cancelled::incrementAndGet);
    assertThat(cancelled).hasValue(1);
  }

  @Test
  void whyItCannotBeMadeIsThrownUntilItIsClosed() {
    IllegalStateException why = new IllegalStateException("refused");
    begin();
    connection.check();
    connection.failed(why);
    assertThat(connection.state()).isEqualTo(State.FAILED);
    assertThatThrownBy(connection::check).isSameAs(why);
    assertThat(connection.begin()).isFalse();
    close();
    connection.check();
  }

  @Test
  void aFailureIsNoNewsOnceItIsThereOrClosed() {
    open();
    connection.failed(new IllegalStateException("late"));
    assertThat(connection.state()).isEqualTo(State.OPEN);
    close();
    connection.failed(new IllegalStateException("late"));
    assertThat(connection.state()).isEqualTo(State.CLOSED);
    connection.check();
  }

  @Test
  void oneThatNobodyHasWantedIsNotMadeAfterItsClose() {
    close();
    assertThat(closing).isEmpty();
    assertThat(connection.begin()).isFalse();
    connection.attempt(cancelled::incrementAndGet);
    assertThat(cancelled).hasValue(1);
    connection.opened(channel, end);
    requireThatNothingIsLeft();
  }

  @Test
  void anAttemptIsCancelledByTheCloseAndWhatComesOfItIsClosed() {
    begin();
    close();
    assertThat(closing).isEmpty();
    assertThat(cancelled).hasValue(1);
    connection.opened(channel, end);
    requireThatNothingIsLeft();
    close();
    assertThat(cancelled).hasValue(1);
  }

  @Test
  void anAttemptThatBeginsWhileItIsClosedIsCancelled() {
    assertThat(connection.begin()).isTrue();
    close();
    connection.attempt(cancelled::incrementAndGet);
    assertThat(cancelled).hasValue(1);
  }

  @Test
  void whoClosesItGetsItsChannelAndItsMemoryStaysUntilItIsFreed() {
    open();
    close();
    close();
    assertThat(closing).containsExactly(channel, channel);
    assertThat(connection.state()).isEqualTo(State.CLOSED);
    assertThat(connection.end()).isSameAs(end);
    assertThat(end.closed).hasValue(0);
    channel.close();
    connection.free();
    connection.free();
    assertThat(connection.state()).isEqualTo(State.FREED);
    close();
    assertThat(connection.state()).isEqualTo(State.FREED);
    requireThatNothingIsLeft();
  }

  @Test
  void whatComesAfterItIsFreedIsClosed() {
    begin();
    close();
    connection.free();
    connection.opened(channel, end);
    requireThatNothingIsLeft();
  }

  @Test
  void aCloseThatRacesWithTheFirstConnectionLeavesNothing() throws Exception {
    try (Threads threads = new Threads()) {
      for (int round = 0; round < ROUNDS; round++) {
        PairConnection<End> raced = new PairConnection<>();
        EmbeddedChannel made = new EmbeddedChannel();
        End madeEnd = new End();
        threads.runTogether(
            2,
            side -> {
              if (side == 0) {
                if (raced.begin()) {
                  raced.attempt(() -> {});
                  raced.opened(made, madeEnd);
                } else {
                  made.close();
                  madeEnd.close();
                }
              } else {
                raced.close(Channel::close);
              }
              return null;
            });
        raced.free();
        made.runPendingTasks();
        assertThat(made.isOpen()).isFalse();
        assertThat(madeEnd.closed).hasValue(1);
      }
    }
  }
}
