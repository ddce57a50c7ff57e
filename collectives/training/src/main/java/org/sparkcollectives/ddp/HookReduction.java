package org.sparkcollectives.ddp;

import java.time.Duration;
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Supplier;
import org.sparkcollectives.CollectiveException;
import org.sparkcollectives.PeerFailedException;
import org.sparkcollectives.ProcessGroup;
import org.sparkcollectives.Tensor;
import org.sparkcollectives.net.LibraryThreads;
import org.sparkcollectives.spi.tensor.TensorView;
import org.sparkcollectives.store.Deadline;

/**
 * Has a hook reduce each bucket, on a thread of its own, one bucket after the other; a second
 * thread runs what hooks give to {@link GradientBucket#executor}. A hook that fails ends the group,
 * because nobody knows which of its collectives the other ranks are in.
 */
final class HookReduction implements BucketReduction {

  private static final Duration LONGEST_CLOSE = Duration.ofSeconds(1);

  /**
   * A call for the thread.
   *
   * @param result fails if the call is not made
   */
  private record Call(Runnable run, CompletableFuture<?> result) {}

  private final ProcessGroup group;
  private final CommHook hook;
  private final BlockingQueue<Call> calls = new LinkedBlockingQueue<>();
  private final Thread thread;
  private final ExecutorService results;

  /** The buckets whose results have not been taken. */
  private final Map<ReducerBucket, CompletableFuture<Tensor>> begun = new ConcurrentHashMap<>();

  /** Why the group has ended, as this rank's hook has first seen it. */
  private final AtomicReference<CollectiveException> failure = new AtomicReference<>();

  private volatile boolean closed;

  private HookReduction(ProcessGroup group, CommHook hook) {
    this.group = group;
    this.hook = hook;
    this.thread =
        LibraryThreads.named("collectives-reducer-hook-" + group.rank()).newThread(this::run);
    this.results =
        new ThreadPoolExecutor(
            1,
            1,
            0,
            TimeUnit.SECONDS,
            new LinkedBlockingQueue<>(),
            LibraryThreads.named("collectives-reducer-result-" + group.rank()));
  }

  /**
   * Runs a hook's work on a result on the second thread, which yields first. Where both share a
   * processor, the group's thread can then begin the next bucket, and the network is busy
   * meanwhile. The order is not guaranteed.
   */
  private void afterYielding(Runnable work) {
    results.execute(
        () -> {
          Thread.yield();
          try {
            work.run();
          } catch (Throwable e) { // Also checked exceptions, which Scala does not declare.
            endGroup(
                "What the hook "
                    + hook.getClass().getName()
                    + " gave to its executor on rank "
                    + group.rank(),
                e);
          }
        });
  }

  static HookReduction start(ProcessGroup group, CommHook hook) {
    HookReduction reduction = new HookReduction(group, hook);
    reduction.thread.start();
    return reduction;
  }

  private void run() {
    while (!closed) {
      try {
        calls.take().run().run();
      } catch (InterruptedException e) {
        return; // The reducer is closed.
      }
    }
  }

  @Override
  public Runnable begin(ReducerBucket bucket, GradientMean mean) {
    if (bucket.isSparse()) {
      CompletableFuture<Runnable> begun = submit(() -> DirectReduction.sparse(group, bucket, mean));
      return () -> result(begun, "The sum of " + bucket).run();
    }
    CompletableFuture<Tensor> reduced = new CompletableFuture<>();
    begun.put(bucket, reduced);
    submit(() -> reduce(bucket, mean, reduced), reduced);
    return () -> {
      try {
        take(bucket, result(reduced, name(bucket)));
      } finally {
        begun.remove(bucket);
      }
    };
  }

  private void reduce(ReducerBucket bucket, GradientMean mean, CompletableFuture<Tensor> reduced) {
    if (failure.get() != null) {
      reduced.completeExceptionally(failure.get());
      return;
    }
    try {
      bucket.setDivisor(mean.divisor());
      bucket.setExecutor(this::afterYielding);
      mean.prepare(bucket.reduced());
      CompletableFuture<Tensor> future = hook.run(bucket);
      if (future == null) {
        throw new IllegalStateException(name(bucket) + " returned null in place of a future");
      }
      future
          .thenAccept(
              result -> {
                requireFit(bucket, result);
                reduced.complete(result);
              })
          .whenComplete(
              (done, thrown) -> {
                if (thrown != null) {
                  fail(bucket, reduced, thrown);
                }
              });
    } catch (Throwable e) {
      fail(bucket, reduced, e);
    }
  }

  private void fail(ReducerBucket bucket, CompletableFuture<?> reduced, Throwable thrown) {
    if (closed) {
      // The group is about to be closed: that the work found no thread any more ends nothing else.
      reduced.completeExceptionally(closedBefore("its result was there"));
      return;
    }
    Throwable cause = causeOf(thrown);
    endGroup(name(bucket), cause);
    reduced.completeExceptionally(cause);
  }

  private void endGroup(String what, Throwable cause) {
    failure.compareAndSet(null, asFailure(what, cause));
    group.abort(cause);
  }

  /** Returns what to throw; the failure of another rank stays one, as everywhere. */
  private static CollectiveException asFailure(String what, Throwable cause) {
    return cause instanceof PeerFailedException peer
        ? peer
        : new CollectiveException(what + " failed: " + cause, cause);
  }

  private static Throwable causeOf(Throwable thrown) {
    boolean wrapped = thrown instanceof CompletionException || thrown instanceof ExecutionException;
    return wrapped && thrown.getCause() != null ? thrown.getCause() : thrown;
  }

  private void requireFit(ReducerBucket bucket, Tensor result) {
    Tensor own = bucket.reduced();
    if (result == null || result.dtype() != own.dtype() || result.count() != own.count()) {
      throw new IllegalStateException(
          name(bucket)
              + " returned "
              + result
              + ", and must return as many elements of the same type as its buffer has, "
              + own);
    }
  }

  private static void take(ReducerBucket bucket, Tensor result) {
    Tensor own = bucket.reduced();
    if (!TensorView.of(result).isSameMemoryAs(TensorView.of(own))) {
      own.copyFrom(result);
    }
  }

  private String name(ReducerBucket bucket) {
    return "The hook "
        + hook.getClass().getName()
        + " of "
        + bucket
        + " on rank "
        + group.rank()
        + " of group \""
        + group.name()
        + "\"";
  }

  private <T> CompletableFuture<T> submit(Supplier<T> call) {
    CompletableFuture<T> result = new CompletableFuture<>();
    submit(
        () -> {
          try {
            result.complete(call.get());
          } catch (Throwable e) {
            result.completeExceptionally(e);
          }
        },
        result);
    return result;
  }

  private void submit(Runnable call, CompletableFuture<?> result) {
    calls.add(new Call(call, result));
    if (closed) {
      failQueued();
    }
  }

  private void failQueued() {
    for (Call call = calls.poll(); call != null; call = calls.poll()) {
      call.result().completeExceptionally(closedBefore("its hook was called"));
    }
  }

  private CollectiveException closedBefore(String what) {
    return new CollectiveException(
        "The reducer on rank "
            + group.rank()
            + " of group \""
            + group.name()
            + "\" was closed before "
            + what);
  }

  @Override
  public <T> T afterwards(Supplier<T> call) {
    return result(submit(call), "The end of a step");
  }

  /** Waits for a result, for the group's timeout at the most; ends soon after the group has. */
  private <T> T result(CompletableFuture<T> future, String what) {
    try {
      return HookWait.result(group, future, Deadline.after(group.timeout()), what);
    } catch (CollectiveException e) {
      throw firstOr(e);
    } catch (ExecutionException e) {
      throw firstOr(asFailure(what, causeOf(e)));
    }
  }

  private CollectiveException firstOr(CollectiveException other) {
    CollectiveException first = failure.get();
    return first == null ? other : first;
  }

  @Override
  public boolean mayFailAlone() {
    return true;
  }

  /** Ends the threads, and fails what they have not begun; waits for a second at the most. */
  @Override
  public void close() {
    closed = true;
    thread.interrupt();
    results.shutdownNow();
    try {
      Deadline deadline = Deadline.after(LONGEST_CLOSE);
      thread.join(Math.max(1, deadline.left().toMillis()));
      results.awaitTermination(deadline.left().toNanos(), TimeUnit.NANOSECONDS);
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    failQueued();
    begun
        .values()
        .forEach(each -> each.completeExceptionally(closedBefore("its result was there")));
  }
}
