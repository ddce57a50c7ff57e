package org.sparkcollectives.store;

import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.atomic.AtomicLong;

/**
 * A store whose data is in another process: the client of a {@link StoreSession} there.
 *
 * <p>A subclass moves bytes, nothing else. Any number of requests may be under way at once.
 */
public abstract class RemoteStore extends StoreHandle {

  /** A value may be replaced between the reply that refers to it and the fetch. */
  private static final int FETCH_ATTEMPTS = 3;

  private final AtomicLong ids = new AtomicLong();
  private final String description;

  /**
   * A client.
   *
   * @param description what messages call the other side, with its address
   * @param timeout the default bound of the blocking calls
   */
  protected RemoteStore(String description, Duration timeout) {
    super(timeout);
    this.description = Objects.requireNonNull(description, "description");
  }

  /**
   * Sends {@code request} to the session at the other side, after those of earlier calls, and gives
   * its reply. Must not block. Fails with {@link StoreConnectionException} at once when the other
   * side is lost, also for requests that it has already.
   */
  protected abstract CompletableFuture<byte[]> ask(byte[] request);

  /** Lets go of the other side, which then closes the session. Called once, by {@link #close}. */
  protected abstract void disconnect();

  /**
   * The bytes to which {@code reference} points, see {@link StoredValue#reference()}; {@link
   * ValueGoneException} if the value was replaced or deleted meanwhile. Must not block.
   */
  protected CompletableFuture<byte[]> fetch(byte[] reference) {
    return CompletableFuture.failedFuture(
        new StoreException(description + " sent a reference to a value, which it should not"));
  }

  @Override
  final PendingReply start(StoreRequest request) {
    long id = ids.incrementAndGet();
    byte[] message = StoreCodec.encode(id, request);
    RemoteReply reply = new RemoteReply(id);
    ask(request, message, reply, FETCH_ATTEMPTS);
    return reply;
  }

  private void ask(StoreRequest request, byte[] message, RemoteReply reply, int attempts) {
    ask(message)
        .thenApply(bytes -> StoreCodec.decodeReply(ByteBuffer.wrap(bytes)))
        .thenCompose(found -> fetchReferences(found).whenComplete((r, f) -> done(request, found)))
        .whenComplete(
            (result, failure) -> {
              if (failure == null) {
                reply.complete(result);
                return;
              }
              RuntimeException cause = failure(failure);
              boolean replaced =
                  cause instanceof ValueGoneException && request.operation() == StoreOperation.GET;
              if (replaced && attempts > 1 && !reply.isDone()) {
                ask(request, message, reply, attempts - 1);
              } else {
                reply.completeExceptionally(cause);
              }
            });
  }

  /** What was taken from a queue is kept at the other side until it was fetched. */
  private void done(StoreRequest request, StoreReply reply) {
    if (!request.operation().takes() || isClosed()) {
      return;
    }
    for (StoredValue value : reply.values()) {
      value
          .reference()
          .ifPresent(
              reference ->
                  ask(
                      StoreCodec.encode(
                          ids.incrementAndGet(),
                          new StoreRequest(
                              StoreOperation.RELEASE,
                              List.of(),
                              List.of(reference),
                              0,
                              Duration.ZERO))));
    }
  }

  private CompletableFuture<StoreReply> fetchReferences(StoreReply reply) {
    CompletableFuture<List<StoredValue>> values =
        CompletableFuture.completedFuture(new ArrayList<>());
    for (StoredValue value : reply.values()) {
      values =
          value.reference().isEmpty()
              ? values.thenApply(list -> plus(list, value))
              : values.thenCombine(
                  fetch(value.bytes()),
                  (list, bytes) -> plus(list, new ReceivedValue(bytes, false)));
    }
    return values.thenApply(list -> new StoreReply(list, reply.keys(), reply.number()));
  }

  private static List<StoredValue> plus(List<StoredValue> list, StoredValue value) {
    list.add(value);
    return list;
  }

  private RuntimeException failure(Throwable failure) {
    if (failure instanceof CompletionException && failure.getCause() != null) {
      return failure(failure.getCause());
    }
    if (failure instanceof CancellationException) {
      return new StoreConnectionException(description + " has closed the session", failure);
    }
    return failure instanceof RuntimeException known
        ? known
        : new StoreException(description + " failed: " + failure, failure);
  }

  @Override
  final String description() {
    return description;
  }

  @Override
  final void release() {
    disconnect();
  }

  private final class RemoteReply extends PendingReply {

    private final long id;

    RemoteReply(long id) {
      this.id = id;
    }

    /** Asks the session to give up; the original request is then answered, one way or the other. */
    @Override
    void expire(Duration waited) {
      if (!isClosed()) {
        StoreRequest expire =
            new StoreRequest(StoreOperation.EXPIRE, List.of(), List.of(), id, waited);
        ask(StoreCodec.encode(ids.incrementAndGet(), expire));
      }
    }
  }
}
