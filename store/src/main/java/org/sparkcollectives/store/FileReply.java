package org.sparkcollectives.store;

import java.time.Duration;

/**
 * A call of this process to a {@link FileTable}. The thread of the file carries it out; the caller
 * may give it up at any time, of which that thread gets word.
 */
final class FileReply extends PendingReply {

  /** Tells the thread of the file that a call was given up. */
  interface GivenUp {
    void accept(FileReply reply, Duration waited);
  }

  private final StoreRequest request;
  private final GivenUp givenUp;
  private boolean claimed;

  // Only for the thread of the file.
  private long id;
  private PendingReply inTable;

  FileReply(StoreRequest request, GivenUp givenUp) {
    this.request = request;
    this.givenUp = givenUp;
  }

  StoreRequest request() {
    return request;
  }

  /** Under which the request is in the file; 0 if it is not. */
  long id() {
    return id;
  }

  /** What the table has made of it; null if it has not come there. */
  PendingReply inTable() {
    return inTable;
  }

  /** Gives the caller what the table makes of the request, now or later. */
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

  /** Whether the caller still waits; from now on he gets what the thread of the file says. */
  synchronized boolean claim() {
    claimed = !isDone();
    return claimed;
  }

  /** Fails it, claimed or not. */
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
