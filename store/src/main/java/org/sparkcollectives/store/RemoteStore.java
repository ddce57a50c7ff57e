package org.sparkcollectives.store;

import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.BitSet;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.BooleanSupplier;

/**
 * A store whose data is in another process: the client of a {@link StoreSession} there.
 *
 * <p>A subclass moves bytes, nothing else. Any number of requests may be in progress at once.
 */
public abstract class RemoteStore extends StoreHandle {

  /** A value may be replaced between the reply that refers to it and the fetch. */
  private static final int FETCH_ATTEMPTS = 3;

  private final AtomicLong ids = new AtomicLong();
  private final String description;

  /**
   * Creates a client.
   *
   * @param description what messages call the other side, with its address
   * @param timeout the default bound of the blocking calls
   */
  protected RemoteStore(String description, Duration timeout) {
    super(timeout);
    this.description = Objects.requireNonNull(description, "description");
  }

  /**
   * Sends {@code request} to the session at the other side, after those of earlier calls, and
   * returns a future of its reply. Must not block. The future fails with {@link
   * StoreConnectionException} at once when the other side is lost, also for requests that it has
   * received.
   */
  protected abstract CompletableFuture<byte[]> ask(byte[] request);

  /** Ends the connection; the other side then closes the session. {@link #close} calls it once. */
  protected abstract void disconnect();

  /**
   * Fetches the bytes to which {@code reference} points, see {@link StoredValue#reference()}. Fails
   * with {@link ValueGoneException} if the value was replaced or deleted meanwhile. Must not block.
   * Few fetches of one call are under way at once.
   */
  protected CompletableFuture<byte[]> fetch(byte[] reference) {
    return CompletableFuture.failedFuture(
        new StoreException(description + " sent a reference to a value, which it should not"));
  }

  /**
   * Returns whether a value is too large for the request that stores it, and is sent by {@link
   * #upload} before that request.
   *
   * @param bytes the size of the value
   * @param before the size of the values that travel in the request already
   */
  protected boolean travelsApart(int bytes, long before) {
    return false;
  }

  /**
   * Sends a value to the other side. Must not block.
   *
   * @param value not changed by the caller while {@code wanted} is true
   * @param wanted whether somebody still waits for the value; if not, the other side must keep
   *     nothing of it
   * @return the bytes that stand for the value in the request, which then owns them
   */
  protected CompletableFuture<byte[]> upload(byte[] value, BooleanSupplier wanted) {
    return CompletableFuture.failedFuture(
        new StoreException(description + " takes values in requests only"));
  }

  /**
   * Frees an uploaded value that no request stored; the other side must keep nothing of it. Must
   * not block.
   */
  protected void discard(byte[] reference) {}

  @Override
  final PendingReply start(StoreRequest request) {
    long id = ids.incrementAndGet();
    RemoteReply reply = new RemoteReply(id);
    BitSet apart = new BitSet();
    long before = 0;
    for (int i = 0; i < request.values().size(); i++) {
      int bytes = request.values().get(i).size();
      if (travelsApart(bytes, before)) {
        apart.set(i);
      } else {
        before += bytes;
      }
    }
    if (apart.isEmpty()) {
      ask(request, StoreCodec.encode(id, request), reply, FETCH_ATTEMPTS);
    } else {
      bring(request, apart, id, reply);
    }
    return reply;
  }

  /** Uploads the values that travel apart, one after the other, and then sends the request. */
  private void bring(StoreRequest request, BitSet apart, long id, RemoteReply reply) {
    reply.bringing = true;
    List<StoredValue> values = new ArrayList<>(request.values());
    List<byte[]> brought = new ArrayList<>();
    CompletableFuture<Void> all = CompletableFuture.completedFuture(null);
    for (int i : apart.stream().toArray()) {
      all =
          all.thenCompose(nothing -> upload(values.get(i).bytes(), () -> !reply.isDone()))
              .thenAccept(
                  reference -> {
                    brought.add(reference);
                    values.set(i, new ReceivedValue(reference, true));
                  });
    }
    all.whenComplete(
        (nothing, failure) -> {
          RuntimeException cause = failure == null ? null : failure(failure);
          if (cause == null) {
            try {
              byte[] message = StoreCodec.encode(id, request.withValues(values));
              reply.bringing = false;
              // A caller that gave up may have changed the arrays before they were read.
              if (!reply.isDone()) {
                ask(request, message, reply, FETCH_ATTEMPTS);
                return;
              }
            } catch (RuntimeException e) {
              cause = e;
            }
          }
          brought.forEach(this::discard);
          if (cause != null) {
            reply.completeExceptionally(cause);
          }
        });
  }

  private void ask(StoreRequest request, byte[] message, RemoteReply reply, int attempts) {
    ask(message)
        .thenApply(bytes -> StoreCodec.decodeReply(ByteBuffer.wrap(bytes)))
        .thenCompose(first -> whole(request, first, reply))
        .thenCompose(
            found -> fetchReferences(found, reply).whenComplete((r, f) -> done(request, found)))
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

  /** Completes a reply that comes in parts: each further part is requested. */
  private CompletableFuture<StoreReply> whole(
      StoreRequest request, StoreReply first, RemoteReply reply) {
    return request.operation().answersInParts() && first.number() > 0
        ? following(new ArrayList<>(first.values()), new ArrayList<>(first.keys()), reply)
        : CompletableFuture.completedFuture(first);
  }

  private CompletableFuture<StoreReply> following(
      List<StoredValue> values, List<String> keys, RemoteReply reply) {
    boolean wanted = !isClosed() && !reply.isDone();
    StoreRequest next =
        new StoreRequest(
            wanted ? StoreOperation.NEXT : StoreOperation.FORGET,
            List.of(),
            List.of(),
            reply.id,
            Duration.ZERO);
    CompletableFuture<byte[]> answer = ask(StoreCodec.encode(ids.incrementAndGet(), next));
    if (!wanted) {
      return CompletableFuture.failedFuture(
          new CancellationException("nobody waits for what follows"));
    }
    return answer
        .thenApply(bytes -> StoreCodec.decodeReply(ByteBuffer.wrap(bytes)))
        .thenCompose(
            more -> {
              values.addAll(more.values());
              keys.addAll(more.keys());
              return more.number() > 0
                  ? following(values, keys, reply)
                  : CompletableFuture.completedFuture(new StoreReply(values, keys, 0));
            });
  }

  /** Confirms that a value taken from a queue has arrived; the other side keeps it until then. */
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
                              List.of(new ReceivedValue(reference, true)),
                              0,
                              Duration.ZERO))));
    }
  }

  private CompletableFuture<StoreReply> fetchReferences(StoreReply found, RemoteReply reply) {
    return ValueFetches.of(found.values(), this::fetch, () -> !isClosed() && !reply.isDone())
        .thenApply(values -> new StoreReply(values, found.keys(), found.number()));
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
    private volatile boolean bringing;

    RemoteReply(long id) {
      this.id = id;
    }

    /**
     * Asks the session to give up; it then answers the original request one way or the other. If
     * the values of the request are still being uploaded, the request is not sent at all.
     */
    @Override
    void expire(Duration waited) {
      if (bringing) {
        completeExceptionally(
            new StoreException("the call was given up while its value was on the way"));
      } else if (!isClosed()) {
        StoreRequest expire =
            new StoreRequest(StoreOperation.EXPIRE, List.of(), List.of(), id, waited);
        ask(StoreCodec.encode(ids.incrementAndGet(), expire));
      }
    }
  }
}
