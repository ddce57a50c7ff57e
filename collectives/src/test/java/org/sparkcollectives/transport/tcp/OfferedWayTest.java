package org.sparkcollectives.transport.tcp;

import static org.assertj.core.api.Assertions.assertThat;

import io.netty.channel.embedded.EmbeddedChannel;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;
import org.sparkcollectives.TransportException;

/** A way to a peer that was offered memory, given up at each moment. */
class OfferedWayTest {

  private final CompletableFuture<Boolean> taken = new CompletableFuture<>();
  private final CompletableFuture<TcpPairs.Route> overTcp = new CompletableFuture<>();
  private final Held memory = new Held();
  private final Held connection = new Held();
  private final CompletableFuture<TcpPairs.Route> way =
      OfferedWay.of(taken, memory::route, () -> overTcp);

  /** What a route holds. */
  private static final class Held implements ByteSink {
    private final EmbeddedChannel channel = new EmbeddedChannel();
    private boolean made;
    private boolean closed;

    TcpPairs.Route route() {
      made = true;
      return new TcpPairs.Route(channel, this);
    }

    void assertThatNothingIsLeft() {
      assertThat(closed || !made).as("memory is unmapped").isTrue();
      assertThat(channel.isOpen() && made).as("the connection is open").isFalse();
    }

    @Override
    public boolean offer(int bytes, Filler filler) {
      return false;
    }

    @Override
    public boolean drain() {
      return true;
    }

    @Override
    public void close() {
      closed = true;
    }
  }

  @Test
  void isTheMemoryIfThatIsTaken() {
    taken.complete(true);
    assertThat(way.join().sink()).isSameAs(memory);
    assertThat(memory.closed).isFalse();
  }

  @Test
  void isAConnectionIfTheMemoryIsRefused() {
    taken.complete(false);
    assertThat(way).isNotDone();
    overTcp.complete(connection.route());
    assertThat(way.join().sink()).isSameAs(connection);
    assertThat(connection.closed).isFalse();
  }

  @Test
  void failsWithEither() {
    CompletableFuture<Boolean> lost = new CompletableFuture<>();
    CompletableFuture<TcpPairs.Route> first = OfferedWay.of(lost, memory::route, () -> overTcp);
    lost.completeExceptionally(new TransportException("lost"));
    assertThat(first).isCompletedExceptionally();
    taken.complete(false);
    overTcp.completeExceptionally(new TransportException("refused"));
    assertThat(way).isCompletedExceptionally();
  }

  @Test
  void leavesNoMemoryIfItIsGivenUpBeforeThatIsTaken() {
    way.cancel(false);
    memory.route();
    taken.complete(true);
    memory.assertThatNothingIsLeft();
  }

  @Test
  void leavesNoConnectionIfItIsGivenUpWhileThatIsMade() {
    taken.complete(false);
    way.cancel(false);
    assertThat(overTcp).isCancelled();
  }

  @Test
  void makesNoConnectionIfItIsGivenUpBefore() {
    way.cancel(false);
    taken.complete(false);
    assertThat(overTcp.getNumberOfDependents()).isZero();
  }
}
