package org.sparkcollectives.spark.internal.driver;

import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.Map;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.atomic.AtomicReference;
import org.apache.spark.rpc.RpcAddress;
import org.sparkcollectives.Failure;
import org.sparkcollectives.RankLocation;
import org.sparkcollectives.config.Configuration;
import org.sparkcollectives.spark.internal.executor.DriverLink;
import org.sparkcollectives.spark.internal.executor.DriverStoreClient;
import org.sparkcollectives.spark.internal.protocol.JoinRequest;
import org.sparkcollectives.spark.internal.protocol.RunRequest;
import org.sparkcollectives.spark.internal.protocol.StageAttempt;
import org.sparkcollectives.spark.internal.protocol.StoreMessages;
import org.sparkcollectives.spark.internal.protocol.ValueReference;

/** The driver's store without Spark, with pieces of 64 KiB and 1 MiB in flight. */
final class TestDriver implements AutoCloseable {

  static final int CHUNK = 64 << 10;
  static final int IN_FLIGHT = 1 << 20;

  private final MemoryBlocks blocks = new MemoryBlocks();
  private final Set<String> decommissioned = ConcurrentHashMap.newKeySet();
  private final Queue<Long> killed = new ConcurrentLinkedQueue<>();
  private final AtomicLong sent = new AtomicLong();
  private final AtomicLong mostOnTheWay = new AtomicLong();
  private final AtomicReference<Error> sending = new AtomicReference<>();
  private final DriverStore store;

  TestDriver(String maxSize) {
    store =
        new DriverStore(
            removals -> blocks,
            Configuration.of(Map.of("spark.collectives.store.maxSize", maxSize)),
            new DriverStore.Traffic(CHUNK, IN_FLIGHT),
            () -> "app",
            (task, interrupt, reason) -> killed.add(task),
            decommissioned::contains,
            hosts -> hosts.stream().map(host -> "/rack-of-" + host).toList());
  }

  DriverStore store() {
    return store;
  }

  MemoryBlocks blocks() {
    return blocks;
  }

  /** Announces the end of an executor. */
  void decommission(String executor) {
    decommissioned.add(executor);
  }

  /** Lets the next reply fail while it is sent. */
  void failNextReply(Error failure) {
    sending.set(failure);
  }

  /** Returns the tasks that were killed. */
  Queue<Long> killed() {
    return killed;
  }

  /** Returns the highest number of bytes of pieces that were sent and not yet written. */
  long mostOnTheWay() {
    return mostOnTheWay.get();
  }

  /** Returns how many bytes of pieces were sent. */
  long sent() {
    return sent.get();
  }

  DriverStoreClient connect(StageAttempt stage) {
    Failure ifLost =
        new Failure(
            Failure.Kind.EXECUTOR_LOST, new RankLocation(0, "host", "1", 7), "", -1, "lost");
    JoinRequest request = new JoinRequest(stage, "", "world", ifLost);
    Link link = new Link(new RpcAddress("executor", 1));
    return DriverStoreClient.connect(link, request, Duration.ofMinutes(5));
  }

  /** Ends the executor of a replica, as Spark's events tell it. */
  void lose(RunRequest replica) {
    store.clients().disconnected(new RpcAddress("executor-" + replica.incarnation(), 1));
    RankLocation where = new RankLocation(replica.replica(), "host", "1", replica.incarnation());
    store
        .runs()
        .failed(
            replica.incarnation(),
            new Failure(Failure.Kind.EXECUTOR_LOST, where, "", -1, "lost"),
            null);
  }

  DriverStoreClient connect(RunRequest replica) {
    Link link = new Link(new RpcAddress("executor-" + replica.incarnation(), 1));
    return DriverStoreClient.connect(link, replica, Duration.ofMinutes(5));
  }

  private final class Link implements DriverLink {
    private final RpcAddress address;

    Link(RpcAddress address) {
      this.address = address;
    }

    @Override
    public CompletableFuture<byte[]> ask(byte[] message) {
      if (message[0] == StoreMessages.PIECE) {
        ByteBuffer piece = ByteBuffer.wrap(message);
        StoreMessages.kind(piece);
        StoreMessages.session(piece);
        StoreMessages.upload(piece);
        long onTheWay = sent.addAndGet(piece.remaining()) - blocks.written();
        mostOnTheWay.accumulateAndGet(onTheWay, Math::max);
      }
      CompletableFuture<byte[]> reply = new CompletableFuture<>();
      store.receive(
          address,
          message,
          content -> {
            Error failure = sending.getAndSet(null);
            if (failure != null) {
              throw failure;
            }
            reply.complete(content);
          });
      return reply.thenApply(StoreMessages::unwrap);
    }

    @Override
    public byte[] fetch(byte[] reference) {
      return ValueReference.decode(reference).fetch(blocks::fetch);
    }

    @Override
    public String address() {
      return "the driver";
    }
  }

  @Override
  public void close() {
    store.close();
  }
}
