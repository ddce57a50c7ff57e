package org.sparkcollectives.gpu.nccl;

import java.time.Duration;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.sparkcollectives.gpu.cuda.CudaDevice;
import org.sparkcollectives.spi.BackendContext;

/**
 * Ends one rank's group on a GPU. When the group fails, its communicators are aborted on separate
 * threads, so that nobody waits for NCCL. When it is closed without a failure, they are finalized,
 * which waits, for a bounded time, for the peers. The resources that NCCL used are released only
 * when no thread is inside NCCL any more: in time, or later by a separate thread.
 */
final class NcclGroupShutdown {

  private static final Logger LOG = LoggerFactory.getLogger(NcclGroupShutdown.class);

  /** The interval at which a thread that waits for NCCL logs that it still waits. */
  private static final Duration STUCK_LOG_INTERVAL = Duration.ofMinutes(10);

  private final BackendContext context;
  private final CudaDevice device;
  private final DaemonThreads threads;
  private final SubmissionGate gate;
  private final GroupCommunicators communicators;
  private final NcclMemory memory;
  private final Duration atMost;

  /** True once threads that abort have been started, or need not be. */
  private boolean aborting;

  /**
   * Creates the shutdown of a group that has just been created.
   *
   * @param gate admits the threads that submit operations
   * @param atMost how long to wait for each, see {@link NcclTuning#abortTimeout}
   */
  NcclGroupShutdown(
      BackendContext context,
      CudaDevice device,
      DaemonThreads threads,
      SubmissionGate gate,
      GroupCommunicators communicators,
      NcclMemory memory,
      Duration atMost) {
    this.context = context;
    this.device = device;
    this.threads = threads;
    this.gate = gate;
    this.communicators = communicators;
    this.memory = memory;
    this.atMost = atMost;
  }

  /** Starts to abort the communicators of a group that has failed. Does not block. */
  synchronized void startAborting() {
    aborting = aborting || communicators.startAborting();
  }

  /**
   * Blocks for NCCL and for the GPU, for each for {@link NcclTuning#abortTimeout} at the most.
   * Called once.
   *
   * @param release releases all resources of the group, when nobody uses them any more
   */
  void close(NcclWatchdog watchdog, Runnable release) {
    boolean closed = !context.operations().hasFailed() && closeCommunicators();
    if (!closed) {
      startAborting();
    }
    boolean noThreads;
    synchronized (this) {
      noThreads = !closed && !aborting;
      // The group may still fail; its communicators are gone, or about to be.
      aborting = true;
    }
    if (noThreads) {
      communicators.abort();
    }
    watchdog.close();
    if (awaitUnused(atMost)) {
      releaseInTime(release);
      return;
    }
    LOG.warn(
        "NCCL has not released the communicators of group \"{}\" on rank {} after {} s: their"
            + " threads and resources on {} remain until it does",
        context.groupName(),
        context.rank(),
        atMost.toSeconds(),
        device.device());
    threads.startLast("nccl-end", () -> releaseLater(release));
  }

  private boolean closeCommunicators() {
    boolean[] done = new boolean[1];
    try {
      Runnable close =
          () -> {
            try {
              communicators.close(atMost);
              done[0] = true;
            } catch (RuntimeException | Error e) {
              notFinalized(e);
            }
          };
      return threads.run("nccl-close", atMost, close) && done[0];
    } catch (OutOfMemoryError e) {
      notFinalized(e);
      return false;
    }
  }

  private void notFinalized(Throwable cause) {
    LOG.warn(
        "Group \"{}\" is closed on rank {}, but its communicators were not finalized: {}",
        context.groupName(),
        context.rank(),
        cause.toString());
  }

  /**
   * Waits until nobody uses the resources that are to be released, and nobody will. Returns whether
   * that was so in time.
   */
  private boolean awaitUnused(Duration limit) {
    Deadline deadline = Deadline.in(limit, () -> false);
    // Each may start what the next one waits for.
    return gate.close(limit)
        && communicators.awaitUnused(deadline.left())
        && threads.join(deadline.left());
  }

  /**
   * Releases the resources. Waits for the GPU before it frees NCCL's memory, and a kernel of the
   * user's may hang there.
   */
  private void releaseInTime(Runnable release) {
    boolean done;
    try {
      done = !memory.hasPieces();
      if (done) {
        release.run();
      } else {
        done = threads.run("nccl-free", atMost, release);
      }
    } catch (OutOfMemoryError e) {
      LOG.debug("There is no thread for it", e);
      release.run();
      return;
    }
    if (!done) {
      LOG.warn(
          "{} has not finished its work {} s after group \"{}\" was closed on rank {}: the group's"
              + " memory stays allocated until it has",
          device.device(),
          atMost.toSeconds(),
          context.groupName(),
          context.rank());
    }
  }

  private void releaseLater(Runnable release) {
    while (!awaitUnused(STUCK_LOG_INTERVAL)) {
      LOG.debug(
          "Group \"{}\" is still in use by NCCL on rank {}", context.groupName(), context.rank());
    }
    release.run();
    LOG.info(
        "NCCL has released the communicators of group \"{}\" on rank {}, and all their resources",
        context.groupName(),
        context.rank());
  }

  /**
   * Runs one step of the release. The next step runs even if this one fails: a GPU in error refuses
   * every call.
   */
  void releaseStep(String what, Runnable step) {
    try {
      step.run();
    } catch (RuntimeException | Error e) {
      LOG.warn("Rank {} could not release {} on {}", context.rank(), what, device.device(), e);
    }
  }
}
