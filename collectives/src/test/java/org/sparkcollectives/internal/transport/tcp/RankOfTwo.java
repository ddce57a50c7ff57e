package org.sparkcollectives.internal.transport.tcp;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.sparkcollectives.CollectiveMismatchException;
import org.sparkcollectives.DType;
import org.sparkcollectives.OpType;
import org.sparkcollectives.internal.transport.Cancellation;
import org.sparkcollectives.internal.transport.ConnectionListener;
import org.sparkcollectives.internal.transport.Endpoint;
import org.sparkcollectives.internal.transport.EventCount;
import org.sparkcollectives.internal.transport.NodeAddress;
import org.sparkcollectives.internal.transport.OperationHeader;
import org.sparkcollectives.internal.transport.Place;
import org.sparkcollectives.internal.transport.Progress;
import org.sparkcollectives.internal.transport.shm.Doorbell;
import org.sparkcollectives.spi.tensor.HostTensor;

/** The pairs of rank 0 of two, which is in all-reduce 7 and has no network, and what they tell. */
final class RankOfTwo {

  static final HostTensor TENSOR = HostTensor.allocate(DType.FLOAT32, 3);

  final List<String> events = new ArrayList<>();

  private final Connector connector;

  RankOfTwo() {
    this(
        (target, setup) -> {
          throw new AssertionError("it connects to " + target.id());
        });
  }

  /** Connects by {@code connector}. */
  RankOfTwo(Connector connector) {
    this.connector = connector;
  }

  StreamPairs pairs() {
    Cancellation never =
        new Cancellation() {
          @Override
          public void check() {}

          @Override
          public void interrupted() {}
        };
    ConnectionListener listener =
        new ConnectionListener() {
          @Override
          public void broken(Throwable cause) {
            events.add("broken: " + cause.getMessage());
          }

          @Override
          public void finished(long lastCollective) {
            events.add("finished");
          }

          @Override
          public void refused(CollectiveMismatchException why) {
            events.add("refused");
          }
        };
    RankConnector ranks =
        new RankConnector(
            connector,
            "group",
            0,
            new byte[32],
            List.of(endpoint(0), endpoint(1)),
            peer -> listener);
    return new StreamPairs(
        ranks,
        0,
        new Progress(new EventCount(Duration.ZERO), never),
        new SocketWait(new Doorbell(Runnable::run)),
        null,
        () -> allReduce(7));
  }

  private static Endpoint endpoint(int rank) {
    return new Endpoint(
        rank, new NodeAddress("node-" + rank, new Place("", 2, true), "10.0.0.1", 7000, "1"), -1);
  }

  static OperationHeader allReduce(long number) {
    return new OperationHeader(OpType.ALL_REDUCE, number, DType.FLOAT32, TENSOR.count());
  }
}
