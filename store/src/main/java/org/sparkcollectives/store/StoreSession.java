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
   * The bytes of values that travel in one reply, unless the first value is larger. The limit keeps
   * the heap that the replies to many clients take independent of how much each of them asks for.
   */
  static final int MAX_REPLY_BYTES = 1 << 20;

  private final StoreTable table;
  private final String keyPrefix;
  private final Executor slow;
  private final Function<byte[], StoredValue> uploads;
  private final Map<Long, Waiting> waiting = new ConcurrentHashMap<>();
  private final Map<ByteBuffer, StoredValue> lent = new ConcurrentHashMap<>();

  /** The values that are to follow, by the id of their GET, as they were when it was granted. */
  private final Map<Long, List<StoredValue>> following = new ConcurrentHashMap<>();

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
    } catch (RuntimeException e) {
      return CompletableFuture.completedFuture(encodeFailure(id, e));
    }
  }

  private static CompletableFuture<byte[]> done(long id) {
    return CompletableFuture.completedFuture(StoreCodec.encode(id, StoreReply.DONE));
  }

  private CompletableFuture<byte[]> start(long id, StoreRequest request) {
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
    CompletableFuture<byte[]> answer = new CompletableFuture<>();
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

  private void carryOut(long id, StoreRequest request, CompletableFuture<byte[]> answer) {
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

  private CompletableFuture<byte[]> follow(long id, StoreRequest request, PendingReply pending) {
    CompletableFuture<byte[]> answer = new CompletableFuture<>();
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
          if (failure == null && request.operation().takes()) {
            reply.values().forEach(this::lend);
          }
          answer.complete(
              failure == null
                  ? encodeReply(id, request.operation(), reply)
                  : encodeFailure(id, failure));
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

  /** Returns how many values are kept that are to follow. */
  int followingCount() {
    return following.values().stream().mapToInt(List::size).sum();
  }

  private void expire(long id) {
    Waiting entry = waiting.get(id);
    if (entry != null) {
      entry.pending.expire(entry.timeout);
    }
  }

  private byte[] next(long id, long get) {
    List<StoredValue> values = following.remove(get);
    if (values == null) {
      throw new StoreException("no values of request " + get + " are to follow");
    }
    return StoreCodec.encode(id, firstOf(get, values));
  }

  /** Returns the first values of a GET, as many as fit into a reply, and keeps the others. */
  private StoreReply firstOf(long get, List<StoredValue> values) {
    int count = 0;
    long bytes = 0;
    for (StoredValue each : values) {
      bytes += StoreCodec.sizeOf(each);
      if (count > 0 && bytes > MAX_REPLY_BYTES) {
        break;
      }
      count++;
    }
    if (count < values.size()) {
      if (following.size() >= MAX_WAITING) {
        throw new StoreException("this client has asked for too much that it has not fetched");
      }
      following.put(get, values.subList(count, values.size()));
      if (closed) {
        following.clear();
      }
    }
    return new StoreReply(values.subList(0, count), List.of(), values.size() - count);
  }

  private byte[] encodeReply(long id, StoreOperation operation, StoreReply reply) {
    try {
      if (operation == StoreOperation.GET) {
        return StoreCodec.encode(id, firstOf(id, reply.values()));
      }
      return StoreCodec.encode(
          id, new StoreReply(reply.values(), withoutPrefix(reply.keys()), reply.number()));
    } catch (RuntimeException e) {
      return encodeFailure(id, e);
    }
  }

  private byte[] encodeFailure(long id, Throwable failure) {
    return StoreCodec.encode(id, StoreFailure.of(failure).withoutPrefix(keyPrefix));
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
