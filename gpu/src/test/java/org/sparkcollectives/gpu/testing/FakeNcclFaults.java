package org.sparkcollectives.gpu.testing;

import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;

/** The faults that a test injects into the fake of NCCL. */
public final class FakeNcclFaults {

  private final Map<String, CountDownLatch> hanging = new ConcurrentHashMap<>();
  private final Map<String, Error> errors = new ConcurrentHashMap<>();
  private volatile boolean abortsHang;
  private volatile int registrationResult = FakeNcclResult.SUCCESS;

  FakeNcclFaults() {}

  /** Makes registrations of memory return this result from now on. */
  public void refuseRegistrations(int result) {
    registrationResult = result;
  }

  /** Returns the result of registrations of memory. */
  int registrationResult() {
    return registrationResult;
  }

  /** Makes aborts hang from now on, until this is called with false. */
  public synchronized void hangAborts(boolean hang) {
    abortsHang = hang;
    notifyAll();
  }

  /** Blocks while aborts hang. */
  synchronized void awaitAborts() {
    while (abortsHang) {
      try {
        wait();
      } catch (InterruptedException e) {
        throw new AssertionError(e);
      }
    }
  }

  /**
   * Makes calls of a function hang from now on, until the returned latch is counted down.
   *
   * @param function such as {@code ncclGroupEnd}, or {@code ncclCommSplit of rank 1}
   */
  public CountDownLatch hang(String function) {
    CountDownLatch latch = new CountDownLatch(1);
    hanging.put(function, latch);
    return latch;
  }

  /** Makes calls of a function throw from now on, as if the library lacked it; null ends that. */
  public void throwFrom(String function, Error error) {
    if (error == null) {
      errors.remove(function);
    } else {
      errors.put(function, error);
    }
  }

  /** Throws or blocks if a fault is injected into the function. */
  void applyTo(String function) {
    Error error = errors.get(function);
    if (error != null) {
      throw error;
    }
    CountDownLatch latch = hanging.get(function);
    try {
      if (latch != null) {
        latch.await();
      }
    } catch (InterruptedException e) {
      throw new AssertionError(e);
    }
  }
}
