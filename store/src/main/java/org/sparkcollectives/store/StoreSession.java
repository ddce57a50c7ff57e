package org.sparkcollectives.store;

import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.function.ToLongFunction;

/**
 * One remote client of a {@link StoreTable}: takes its requests and returns the replies, as bytes.
 *
 * <p>Everything that serves a store to another process uses it; only the way the bytes travel
 * differs. The waiters of a client belong to its session. So {@link #close()}, called when the
 * client is lost, leaves nothing of it behind. Thread-safe; nothing here blocks.
 */
public final class StoreSession implements AutoCloseable {

  /**
   * The number of calls of one client that may wait at once. A client that exceeds it is out of
   * control.
   */
  static final int MAX_WAITING = 1 << 14;

  /**
   * The bytes of values or keys that travel in one reply, unless the first is larger. The limit
   * keeps the heap that the replies to many clients take independent of how much each of them asks
   * for.
   */
  static final int MAX_REPLY_BYTES = 1 << 20;

  private final StoreTable table;
  private final String keyPrefix;
  private final Executor slow;
  private final Function<byte[], StoredValue> uploads;
  private final Map<Long, Waiting> waiting = new ConcurrentHashMap<>();
  private final Map<ByteBuffer, StoredValue> lent = new ConcurrentHashMap<>();

  /** The next parts of replies, by the id of the request, as they were when it was granted. */
  private final Map<Long, StoreReply> following = new ConcurrentHashMap<>();

  private volatile boolean closed;

  /**
   * Creates a session on {@code table}. Its client sees only the keys that start with {@code
   * keyPrefix}, and sees them without it; it cannot name any other key.
   */
  public StoreSession(StoreTable table, String keyPrefix) {
    this(
        table,
        keyPrefix,
        Runnable::run,
        reference -> {
          throw new StoreException("this store takes values in requests only");
        });
  }

  /**
   * Creates a session on a table whose values may be slow to read or make.
   *
   * @param slow carries out what must read or make values that are not in memory
   * @param uploads returns the values that the client has uploaded, each once: see {@link
   *     RemoteStore#upload}
   */
  public StoreSession(
      StoreTable table, String keyPrefix, Executor slow, Function<byte[], StoredValue> uploads) {
    this.table = Objects.requireNonNull(table, "table");
    this.keyPrefix = Objects.requireNonNull(keyPrefix, "keyPrefix");
    this.slow = Objects.requireNonNull(slow, "slow");
    this.uploads = Objects.requireNonNull(uploads, "uploads");
  }

  /**
   * Starts a request made by {@link RemoteStore}.
   *
   * <p>Never throws: the reply says what is wrong with the request.
   *
   * @param request read from its position to its limit, before this method returns
   * @return the reply, as soon as there is one. It is cancelled if the session is closed before;
   *     the request then changes nothing after {@link #close} has returned
   */
  public CompletableFuture<byte[]> answer(ByteBuffer request) {
    CompletableFuture<byte[]> answer = new CompletableFuture<>();
    reply(request)
        .whenComplete(
            (reply, failure) -> {
              try {
                if (failure == null) {
                  answer.complete(reply.toByteArray());
                } else {
                  answer.completeExceptionally(failure);
                }
              } catch (RuntimeException | Error e) {
                answer.completeExceptionally(e);
              }
            });
    return answer;
  }

  /** Starts a request as {@link #answer} does; the reply shares the values with the table. */
  CompletableFuture<StoreMessage> reply(ByteBuffer request) {
    long id = 0;
    try {
      id = StoreCodec.id(request);
      StoreRequest decoded = StoreCodec.decodeRequest(request).request();
      if (decoded.operation() == StoreOperation.EXPIRE) {
        expire(decoded.number());
        return done(id);
      }
      if (decoded.operation() == StoreOperation.RELEASE) {
        release(ByteBuffer.wrap(decoded.values().get(0).bytes()));
        return done(id);
      }
      if (decoded.operation() == StoreOperation.FORGET) {
        following.remove(decoded.number());
        return done(id);
      }
      if (decoded.operation() == StoreOperation.NEXT) {
        return CompletableFuture.completedFuture(next(id, decoded.number()));
      }
      return start(id, decoded);
    } catch (CancellationException e) {
      return CompletableFuture.failedFuture(e);
    } catch (RuntimeException | OutOfMemoryError e) {
      return CompletableFuture.completedFuture(encodeFailure(id, e));
    }
  }

  private static CompletableFuture<StoreMessage> done(long id) {
    return CompletableFuture.completedFuture(StoreCodec.message(id, StoreReply.DONE));
  }

  private CompletableFuture<StoreMessage> start(long id, StoreRequest request) {
    if (waiting.size() >= MAX_WAITING) {
      throw new StoreException("this client has " + MAX_WAITING + " calls waiting already");
    }
    StoreRequest inTable = request.withKeys(key -> keyPrefix + key);
    StoreRequest[] slowOne = new StoreRequest[1];
    PendingReply pending =
        whileOpen(
            () -> {
              StoreRequest whole = inTable.withValues(found(request.values()));
              if (!isSlow(whole)) {
                return TableOperations.start(table, whole);
              }
              slowOne[0] = whole;
              return null;
            });
    if (pending != null) {
      return follow(id, request, pending);
    }
    StoreRequest whole = slowOne[0];
    CompletableFuture<StoreMessage> answer = new CompletableFuture<>();
    try {
      slow.execute(() -> carryOut(id, whole, answer));
    } catch (RejectedExecutionException e) {
      whole.values().forEach(StoredValue::released);
      answer.cancel(false);
    }
    return answer;
  }

  private boolean isSlow(StoreRequest request) {
    try {
      return TableOperations.isSlow(table, request);
    } catch (StoreException | IllegalStateException e) {
      return false; // The request is refused, which is quick.
    }
  }

  /** Replaces references to values that are already on this side by the values. */
  private List<StoredValue> found(List<StoredValue> values) {
    List<StoredValue> found = new ArrayList<>();
    try {
      for (StoredValue value : values) {
        found.add(value.reference().map(uploads).orElse(value));
      }
    } catch (RuntimeException e) {
      found.forEach(StoredValue::released);
      throw e;
    }
    return found;
  }

  private void carryOut(long id, StoreRequest request, CompletableFuture<StoreMessage> answer) {
    try {
      follow(id, request, TableOperations.startSlow(table, request, this::whileOpen))
          .whenComplete(
              (reply, cancelled) -> {
                if (cancelled == null) {
                  answer.complete(reply);
                } else {
                  answer.cancel(false);
                }
              });
    } catch (CancellationException e) {
      answer.cancel(false);
    } catch (RuntimeException | Error e) {
      answer.complete(encodeFailure(id, e));
    }
  }

  private CompletableFuture<StoreMessage> follow(
      long id, StoreRequest request, PendingReply pending) {
    CompletableFuture<StoreMessage> answer = new CompletableFuture<>();
    if (!pending.isDone()) {
      Waiting entry = new Waiting(pending, request.timeout());
      if (waiting.putIfAbsent(id, entry) != null) {
        pending.cancel(false);
        throw new StoreException("request id " + id + " is in use by a call that still waits");
      }
      pending.whenComplete((reply, failure) -> waiting.remove(id, entry));
      if (closed) {
        pending.cancel(false);
      }
    }
    pending.whenComplete(
        (reply, failure) -> {
          if (failure instanceof CancellationException) {
            answer.cancel(false);
            return;
          }
          try {
            if (failure == null && request.operation().takes()) {
              reply.values().forEach(this::lend);
            }
            answer.complete(
                failure == null
                    ? encodeReply(id, request.operation(), reply)
                    : encodeFailure(id, failure));
          } catch (RuntimeException | Error e) {
            // Whoever serves the client ends its connection: it must not wait for this reply.
            answer.completeExceptionally(e);
          }
        });
    return answer;
  }

  /**
   * Runs {@code step} unless the session is closed: a request is not carried out after the end of
   * its session.
   */
  private synchronized <T> T whileOpen(Supplier<T> step) {
    if (closed) {
      throw new CancellationException("the session is closed");
    }
    return step.get();
  }

  /**
   * Keeps a value that a client has taken from a queue and fetches by itself, until the client says
   * that it has it.
   */
  private void lend(StoredValue taken) {
    Optional<byte[]> reference = taken.reference();
    if (reference.isEmpty()) {
      taken.released();
      return;
    }
    ByteBuffer key = ByteBuffer.wrap(reference.get());
    lent.put(key, taken);
    if (closed) {
      release(key);
    }
  }

  private void release(ByteBuffer reference) {
    StoredValue taken = lent.remove(reference);
    if (taken != null) {
      taken.released();
    }
  }

  /** Returns how many values and keys are kept that are to follow. */
  int followingCount() {
    return following.values().stream()
        .mapToInt(rest -> rest.values().size() + rest.keys().size())
        .sum();
  }

  private void expire(long id) {
    Waiting entry = waiting.get(id);
    if (entry != null) {
      entry.pending.expire(entry.timeout);
    }
  }

  private StoreMessage next(long id, long first) {
    StoreReply rest = following.remove(first);
    if (rest == null) {
      throw new StoreException("nothing of request " + first + " is to follow");
    }
    return encodeInParts(id, first, rest);
  }

  /** Encodes as many values or keys as fit into a reply, and keeps the others for the next one. */
  private StoreMessage encodeInParts(long id, long first, StoreReply whole) {
    int values = fitting(whole.values(), StoreCodec::sizeOf);
    int keys = fitting(whole.keys(), StoreCodec::sizeOf);
    int left = whole.values().size() - values + whole.keys().size() - keys;
    if (left > 0) {
      keep(
          first,
          new StoreReply(
              whole.values().subList(values, whole.values().size()),
              whole.keys().subList(keys, whole.keys().size()),
              0));
    }
    return StoreCodec.message(
        id,
        new StoreReply(
            whole.values().subList(0, values), withoutPrefix(whole.keys().subList(0, keys)), left));
  }

  /** Returns how many of the parts fit into a reply, at least one. */
  private static <T> int fitting(List<T> parts, ToLongFunction<T> size) {
    int count = 0;
    long bytes = 0;
    for (T each : parts) {
      bytes += size.applyAsLong(each);
      if (count > 0 && bytes > MAX_REPLY_BYTES) {
        break;
      }
      count++;
    }
    return count;
  }

  private void keep(long first, StoreReply rest) {
    if (following.size() >= MAX_WAITING) {
      throw new StoreException("this client has asked for too much that it has not fetched");
    }
    following.put(first, rest);
    if (closed) {
      following.clear();
    }
  }

  private StoreMessage encodeReply(long id, StoreOperation operation, StoreReply reply) {
    try {
      if (operation.answersInParts()) {
        return encodeInParts(id, id, reply);
      }
      return StoreCodec.message(
          id, new StoreReply(reply.values(), withoutPrefix(reply.keys()), reply.number()));
    } catch (RuntimeException | OutOfMemoryError e) {
      return encodeFailure(id, e);
    }
  }

  private StoreMessage encodeFailure(long id, Throwable failure) {
    return StoreMessage.of(
        StoreCodec.encode(id, StoreFailure.of(failure).withoutPrefix(keyPrefix)));
  }

  private List<String> withoutPrefix(List<String> keys) {
    return keys.stream().map(key -> key.substring(keyPrefix.length())).toList();
  }

  /**
   * Withdraws every call of this client that still waits; its replies are cancelled. Releases the
   * values that it has taken from queues and not fetched, and forgets those that were to follow.
   * Waits for a call that another thread carries out at this moment; no call is carried out later.
   */
  @Override
  public void close() {
    synchronized (this) {
      closed = true;
    }
    waiting.values().forEach(entry -> entry.pending.cancel(false));
    following.clear();
    lent.keySet().forEach(this::release);
  }

  private record Waiting(PendingReply pending, Duration timeout) {}
}
