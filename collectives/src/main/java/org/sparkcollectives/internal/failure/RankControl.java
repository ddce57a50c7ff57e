package org.sparkcollectives.internal.failure;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.stream.Collectors;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.sparkcollectives.control.JvmStatus;
import org.sparkcollectives.control.RankAnswer;
import org.sparkcollectives.control.RankRequest;
import org.sparkcollectives.membership.Membership;
import org.sparkcollectives.recorder.GroupStatus;
import org.sparkcollectives.store.Store;
import org.sparkcollectives.store.WatchableStore;

/**
 * Hears what is asked of a rank through the store of its first group, and answers on the given
 * executor: at once where the store can be watched, else within a second.
 */
final class RankControl implements AutoCloseable {

  private static final Duration STORE_TIMEOUT = Duration.ofSeconds(5);
  private static final Duration CLOSE_TIMEOUT = Duration.ofSeconds(2);
  private static final long POLL_NANOS = TimeUnit.SECONDS.toNanos(1);
  private static final Logger LOG = LoggerFactory.getLogger(RankControl.class);

  private final Membership world;
  private final Store store;
  private final RankDumps dumps;
  private final BackgroundCalls background;
  private final AtomicBoolean polling = new AtomicBoolean();
  private volatile long nextRequest = 1;
  private volatile long polledNanos = System.nanoTime();
  private volatile CompletableFuture<byte[]> watch;
  private volatile boolean closed;

  /** With the world's part of the store. Begins to listen, where it can be watched. */
  RankControl(Membership world, Store store, RankDumps dumps, Executor executor) {
    this.world = world;
    this.store = store.withTimeout(STORE_TIMEOUT);
    this.dumps = dumps;
    this.background = new BackgroundCalls(executor, LOG, world);
    awaitRequest();
  }

  private void awaitRequest() {
    if (!closed && store instanceof WatchableStore watchable) {
      CompletableFuture<byte[]> next = watchable.watch(RankRequest.key(nextRequest));
      watch = next;
      next.thenAccept(this::requested);
      if (closed) {
        next.cancel(false);
      }
    }
  }

  private void requested(byte[] value) {
    long number = nextRequest;
    nextRequest = number + 1;
    // Watching and answering take calls of the store, which the thread that brings the news must
    // not make.
    background.run(() -> answer(number, value));
    background.run(this::awaitRequest);
  }

  private void answer(long number, byte[] value) {
    RankRequest request;
    try {
      request = RankRequest.of(number, value);
    } catch (IllegalArgumentException e) {
      LOG.warn("{} is asked for what it does not know: {}", world, e.toString());
      return;
    }
    switch (request.kind()) {
      case DUMP -> dumps.dump(RankRequest.occasion(number), request.reason());
      case PING -> answer(request, JvmStatus.summary());
      case STACKS -> answer(request, JvmStatus.stacks());
      case GROUPS -> answer(request, groups());
    }
  }

  private void answer(RankRequest request, String text) {
    request.answer(
        store,
        new RankAnswer(
            world.self().rank(),
            world.self().host(),
            world.self().executorId(),
            world.self().taskAttemptId(),
            text));
  }

  private String groups() {
    return dumps.groups().stream().map(RankControl::describe).collect(Collectors.joining("\n"));
  }

  private static String describe(GroupStatus group) {
    return "group \""
        + group.name()
        + "\""
        + (group.description().isEmpty() ? "" : " (" + group.description() + ")")
        + " of ranks "
        + group.ranks()
        + ": last collective called #"
        + group.lastEnqueued()
        + ", begun #"
        + group.lastStarted()
        + ", done #"
        + group.lastCompleted();
  }

  /** Looks for a request now and then, if the store cannot be watched. Does not block. */
  void poll() {
    if (watch != null
        || System.nanoTime() - polledNanos < POLL_NANOS
        || !polling.compareAndSet(false, true)) {
      return;
    }
    background.run(
        () -> {
          try {
            String key = RankRequest.key(nextRequest);
            if (store.check(List.of(key))) {
              requested(store.get(key));
            }
          } finally {
            polledNanos = System.nanoTime();
            polling.set(false);
          }
        });
  }

  /** Stops listening, and waits for two seconds at the most until what was begun is answered. */
  @Override
  public void close() {
    closed = true;
    CompletableFuture<byte[]> last = watch;
    if (last != null) {
      last.cancel(false);
    }
    if (!background.await(CLOSE_TIMEOUT)) {
      LOG.warn("{} could not answer what it was asked within {}", world, CLOSE_TIMEOUT);
    }
  }
}
