package org.sparkcollectives.internal.transport.tcp;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.sparkcollectives.CollectiveMismatchException;
import org.sparkcollectives.DType;
import org.sparkcollectives.internal.transport.Cancellation;
import org.sparkcollectives.internal.transport.ConnectionListener;
import org.sparkcollectives.internal.transport.Endpoint;
import org.sparkcollectives.internal.transport.EventCount;
import org.sparkcollectives.internal.transport.NodeAddress;
import org.sparkcollectives.internal.transport.Place;
import org.sparkcollectives.internal.transport.Progress;
import org.sparkcollectives.internal.transport.shm.Doorbell;
import org.sparkcollectives.net.TransportSecurity;
import org.sparkcollectives.spi.tensor.HostTensor;
import org.sparkcollectives.testing.LeakCheck;
import org.sparkcollectives.testing.RankThreads;

/** Two ranks whose connections have memory only while bytes are in it. */
@ExtendWith(LeakCheck.class)
class IdleConnectionTest {

  private static final Duration LIMIT = Duration.ofMinutes(1);
  private static final byte[] SECRET = new byte[32];

  /** Little, so that a socket whose peer reads nothing is soon full. */
  private static final int SEND_BUFFER = 64 * 1024;

  /** More than sockets take that nobody reads. */
  private static final int MANY = 32 << 20;

  private final Rank sender = new Rank(0);
  private final Rank receiver = new Rank(1);

  /** A rank with a node of its own. */
  private static final class Rank implements AutoCloseable {
    private final int number;
    private final TcpTransport node =
        new TcpTransport(
            new ListenAddress("127.0.0.1", "", 0, 0),
            new SocketOptions(SEND_BUFFER, LIMIT),
            TransportSecurity.plain(),
            LIMIT);
    private final SocketWait wait = new SocketWait(new Doorbell(Runnable::run));
    private final Progress progress =
        new Progress(
            new EventCount(Duration.ZERO, wait),
            new Cancellation() {
              @Override
              public void check() {}

              @Override
              public void interrupted() {
                throw new AssertionError("interrupted");
              }
            });
    private StreamPairs pairs;

    Rank(int number) {
      this.number = number;
    }

    Endpoint endpoint() {
      return new Endpoint(
          number,
          new NodeAddress(
              "node-" + number, new Place("", 1, false), "127.0.0.1", node.address().getPort(), ""),
          -1);
    }

    void meet(List<Endpoint> all) {
      RankConnector ranks =
          new RankConnector(node, "group", number, SECRET, all, peer -> new Silent());
      pairs = new StreamPairs(ranks, 0, progress, wait, null, () -> RankOfTwo.allReduce(7));
      node.register(
          "group",
          number,
          SECRET,
          (id, pipeline) ->
              pairs.accepted(id.from(), ConnectionKind.ofCode(id.kind()), pipeline.channel()));
    }

    void send(HostTensor tensor) {
      pairs.pair(1 - number).send(tensor);
    }

    void receive(HostTensor tensor) {
      pairs.pair(1 - number).receive(tensor);
    }

    long bytesInUse() {
      return node.segments().bytesInUse();
    }

    @Override
    public void close() {
      pairs.breakOff();
      pairs.free();
      node.close();
      wait.close();
      assertThat(node.segments().bytes()).isZero();
    }
  }

  private static final class Silent implements ConnectionListener {
    @Override
    public void finished(long lastCollective) {}

    @Override
    public void refused(CollectiveMismatchException why) {}

    @Override
    public void broken(Throwable cause) {}
  }

  IdleConnectionTest() {
    List<Endpoint> all = List.of(sender.endpoint(), receiver.endpoint());
    sender.meet(all);
    receiver.meet(all);
  }

  @AfterEach
  void close() {
    sender.close();
    receiver.close();
  }

  private static HostTensor bytes(int count) {
    return HostTensor.allocate(DType.UINT8, count);
  }

  private void requireThatNoneIsInUse() {
    assertThat(sender.bytesInUse()).isZero();
    assertThat(receiver.bytesInUse()).isZero();
  }

  @Test
  void hasNoneOnceItsMessagesAreThrough() {
    for (int count : new int[] {0, 1, 5_000, 300_000, MANY}) {
      RankThreads.run(
          2,
          rank -> {
            if (rank == 0) {
              sender.send(bytes(count));
              sender.progress.flush();
            } else {
              receiver.receive(bytes(count));
            }
            return null;
          });
      requireThatNoneIsInUse();
    }
  }

  @Test
  void hasNoneForBytesThatNobodyWantsYet() {
    RankThreads.run(
        2,
        rank -> {
          if (rank == 0) {
            sender.send(bytes(7));
            sender.send(bytes(9));
            sender.progress.flush();
          } else {
            receiver.receive(bytes(7));
          }
          return null;
        });
    requireThatNoneIsInUse();
    receiver.progress.await(receiver.pairs.pair(0)::hasMessage);
    receiver.receive(bytes(9));
    requireThatNoneIsInUse();
  }

  @Test
  void hasOneSegmentWhileItsPeerReadsNothing() {
    sender.send(bytes(MANY));
    long start = System.nanoTime();
    // Until the connection is there, and full.
    sender.progress.await(
        () ->
            (!sender.progress.advance() && sender.bytesInUse() > 0)
                || System.nanoTime() - start > LIMIT.toNanos());
    assertThat(sender.bytesInUse()).isBetween(1L, 128L * 1024);
    assertThat(receiver.bytesInUse()).isZero();
  }
}
