package org.sparkcollectives.gpu.nccl;

import org.sparkcollectives.GroupAbortedException;
import org.sparkcollectives.gpu.cuda.CudaDevice;

/**
 * The uses of one communicator for anything but operations: splits, shrinks, and registrations of
 * memory. The caller of each method holds the lock of the communicator, so no operation starts
 * meanwhile.
 */
final class ExclusiveUse {

  private final CudaDevice device;
  private final LazyCommunicator communicator;

  /** True while NCCL may still be busy with a use that was given up. */
  private boolean inProgress;

  /** Creates the object for a communicator that need not exist yet. */
  ExclusiveUse(CudaDevice device, LazyCommunicator communicator) {
    this.device = device;
    this.communicator = communicator;
  }

  /** The calls of NCCL that a use consists of. It must not wait longer than its deadline. */
  interface Body<T> {
    T run(Communicator communicator, Deadline deadline);
  }

  /**
   * Waits for the communicator and for earlier uses, and runs the body while no other thread calls
   * NCCL for the communicator.
   *
   * @throws GroupAbortedException if the communicator is gone, or about to be
   */
  <T> T run(Deadline deadline, Body<T> body) {
    // An abort may have come before.
    deadline.check("exclusive use of " + communicator.name());
    long previous = device.enter();
    try {
      return call(communicator.await(deadline), deadline, body);
    } finally {
      device.leave(previous);
    }
  }

  private <T> T call(Communicator ready, Deadline deadline, Body<T> body) {
    try {
      return ready.exclusively(
          () -> {
            awaitEarlier(ready, deadline);
            inProgress = true;
            T result = body.run(ready, deadline);
            inProgress = false;
            return result;
          });
    } catch (NcclException e) {
      // A failure after an abort is no error of NCCL's.
      deadline.check("NCCL's answer for " + communicator.name());
      throw e;
    }
  }

  /**
   * Waits for a use that was given up: NCCL refuses every call for a communicator out of which it
   * still creates another.
   */
  void awaitEarlier(Communicator ready, Deadline deadline) {
    if (inProgress) {
      ready.check("earlier split or shrink", NcclResult.IN_PROGRESS, deadline);
      inProgress = false;
    }
  }
}
