package org.sparkcollectives.store;

import java.time.Duration;

/**
 * A call of this process to a {@link FileTable}. The file's thread carries it out. The caller may
 * give up at any time, and the thread is then notified.
 */
final class FileReply extends PendingReply {

  /** Notifies the file's thread that a caller has given up. */
  interface GivenUp {
    void accept(FileReply reply, Duration waited);
  }

  private final StoreRequest request;
  private final GivenUp givenUp;
  private boolean claimed;

  // Used by the file's thread only.
  private long id;
  private PendingReply inTable;

  FileReply(StoreRequest request, GivenUp givenUp) {
    this.request = request;
    this.givenUp = givenUp;
  }

  StoreRequest request() {
    return request;
  }

  /** Returns the id of the request in the file, or 0 if it is not in the file. */
  long id() {
    return id;
  }

  /** Returns the reply of the table, or null if the request has not reached the table. */
  PendingReply inTable() {
    return inTable;
  }

  /** Passes the table's reply on to the caller, now or later. */
  void follow(long requestId, PendingReply pending) {
    id = requestId;
    inTable = pending;
    pending.whenComplete(
        (reply, failure) -> {
          if (failure == null) {
            complete(reply);
          } else {
            fail(failure);
          }
        });
  }

  /**
   * Claims the call for the file's thread, and returns whether the caller still waits. From then
   * on, the caller gets the answer of that thread.
   */
  synchronized boolean claim() {
    claimed = !isDone();
    return claimed;
  }

  /** Fails the call, claimed or not. */
  void fail(Throwable failure) {
    super.completeExceptionally(failure);
  }

  @Override
  void expire(Duration waited) {
    givenUp.accept(this, waited);
  }

  @Override
  public synchronized boolean completeExceptionally(Throwable failure) {
    return told(!claimed && super.completeExceptionally(failure));
  }

  @Override
  public synchronized boolean cancel(boolean mayInterruptIfRunning) {
    return told(!claimed && super.cancel(mayInterruptIfRunning));
  }

  private boolean told(boolean ended) {
    if (ended) {
      givenUp.accept(this, Duration.ZERO);
    }
    return ended;
  }
}
