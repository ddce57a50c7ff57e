package org.sparkcollectives.gpu.testing;

import java.util.Map;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.atomic.AtomicLong;
import org.sparkcollectives.gpu.cuda.CudaException;

/** The events of all devices of a fake. */
public final class FakeEvents {

  private static final int INVALID_HANDLE = 400;

  private final FakeContexts contexts;
  private final AtomicLong handles = new AtomicLong(0x5000_0000L);

  /** The time at which each event happens in its stream. */
  private final Map<Long, CompletableFuture<Long>> all = new ConcurrentHashMap<>();

  private final Queue<Long> queries = new ConcurrentLinkedQueue<>();
  private volatile int queryError;

  FakeEvents(FakeContexts contexts) {
    this.contexts = contexts;
  }

  /** Makes all later queries return this error; 0 for none. */
  public void failQueries(int code) {
    queryError = code;
  }

  /** Returns the events that were queried, in order. */
  public Queue<Long> queries() {
    return queries;
  }

  long create() {
    contexts.device();
    long handle = handles.addAndGet(16);
    all.put(handle, CompletableFuture.completedFuture(0L));
    return handle;
  }

  void destroy(long event) {
    when(event);
    all.remove(event);
  }

  void record(long event, FakeStream stream) {
    when(event);
    CompletableFuture<Long> happened = new CompletableFuture<>();
    all.replace(event, happened);
    stream.enqueue(() -> happened.complete(System.nanoTime()));
  }

  boolean query(long event) {
    queries.add(event);
    if (queryError != 0) {
      throw new CudaException("cuEventQuery", queryError, "injected");
    }
    return when(event).isDone();
  }

  /** Returns a future of the time at which the event happens that was recorded last. */
  CompletableFuture<Long> when(long event) {
    contexts.device();
    CompletableFuture<Long> happened = all.get(event);
    if (happened == null) {
      throw new CudaException("a call with event " + event, INVALID_HANDLE, "no such event");
    }
    return happened;
  }

  /** Returns the events that are left. */
  String left() {
    return " event".repeat(all.size());
  }
}
