package org.sparkcollectives.gpu.nccl;

import java.time.Duration;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.sparkcollectives.gpu.GpuConfiguration;
import org.sparkcollectives.gpu.cuda.CudaDevice;
import org.sparkcollectives.spi.BackendContext;

/**
 * Ends one rank's group on a GPU. When the group fails, its communicators are aborted on separate
 * threads, so that nobody waits for NCCL. When it is closed in good order, they are finalized,
 * which waits, for a bounded time, for the peers. The resources that NCCL used are released only
 * when no thread is inside NCCL any more: in time, or later by a separate thread.
 */
final class NcclGroupEnd {

  private static final Logger LOG = LoggerFactory.getLogger(NcclGroupEnd.class);

  /** The interval at which a thread that waits for NCCL logs that it still waits. */
  private static final Duration LONG = Duration.ofMinutes(10);

  private final BackendContext context;
  private final CudaDevice device;
  private final DaemonThreads threads;
  private final Entrance entrance;
  private final GroupCommunicators communicators;
  private final NcclMemory memory;
  private final Duration atMost;

  /** Whether threads that abort have been started, or need not be. */
  private boolean aborting;

  /**
   * Creates the end of a group that has just been created.
   *
   * @param entrance a thread is inside while it starts an operation
   */
  NcclGroupEnd(
      BackendContext context,
      CudaDevice device,
      DaemonThreads threads,
      Entrance entrance,
      GroupCommunicators communicators,
      NcclMemory memory) {
    this.context = context;
    this.device = device;
    this.threads = threads;
    this.entrance = entrance;
    this.communicators = communicators;
    this.memory = memory;
    this.atMost = context.configuration().get(GpuConfiguration.ABORT_TIMEOUT);
  }

  /** Starts to abort the communicators of a group that has failed. Does not block. */
  synchronized void startAborting() {
    aborting = aborting || communicators.startAborting();
  }

  /**
   * Blocks for NCCL and for the GPU, for each for the configured time at the most. Called once.
   *
   * @param letGo releases all that the group has, when nobody uses it any more
   */
  void close(NcclWatch watch, Runnable letGo) {
    boolean over = !context.operations().hasFailed() && closeCommunicators();
    if (!over) {
      startAborting();
    }
    boolean noThreads;
    synchronized (this) {
      noThreads = !over && !aborting;
      // The group may still fail; its communicators are gone, or about to be.
      aborting = true;
    }
    if (noThreads) {
      communicators.abort();
    }
    watch.close();
    if (awaitUnused(atMost)) {
      letGoInTime(letGo);
      return;
    }
    LOG.warn(
        "NCCL has not let go of the communicators of group \"{}\" on rank {} after {} s: their"
            + " threads and what they use on {} stay behind until it does",
        context.groupName(),
        context.rank(),
        atMost.toSeconds(),
        device.device());
    threads.startLast("nccl-end", () -> letGoLater(letGo));
  }

  private boolean closeCommunicators() {
    boolean[] well = new boolean[1];
    try {
      Runnable close =
          () -> {
            try {
              communicators.close(atMost);
              well[0] = true;
            } catch (RuntimeException | Error e) {
              notInGoodOrder(e);
            }
          };
      return threads.run("nccl-close", atMost, close) && well[0];
    } catch (OutOfMemoryError e) {
      notInGoodOrder(e);
      return false;
    }
  }

  private void notInGoodOrder(Throwable cause) {
    LOG.warn(
        "Group \"{}\" is closed on rank {}, but not in good order: {}",
        context.groupName(),
        context.rank(),
        cause.toString());
  }

  /**
   * Waits until nobody uses the resources that are to be released, and nobody will. Returns whether
   * that was so in time.
   */
  private boolean awaitUnused(Duration patience) {
    Deadline deadline = Deadline.in(patience, () -> false);
    // Each may start what the next one waits for.
    return entrance.close(patience)
        && communicators.awaitUnused(deadline.left())
        && threads.join(deadline.left());
  }

  /**
   * Releases the resources. Waits for the GPU before it frees NCCL's memory, and a kernel of the
   * user's may hang there.
   */
  private void letGoInTime(Runnable letGo) {
    boolean done;
    try {
      done = !memory.hasPieces();
      if (done) {
        letGo.run();
      } else {
        done = threads.run("nccl-free", atMost, letGo);
      }
    } catch (OutOfMemoryError e) {
      LOG.debug("There is no thread for it", e);
      letGo.run();
      return;
    }
    if (!done) {
      LOG.warn(
          "{} has not come to an end {} s after group \"{}\" did on rank {}: the group's memory"
              + " stays behind until it does",
          device.device(),
          atMost.toSeconds(),
          context.groupName(),
          context.rank());
    }
  }

  private void letGoLater(Runnable letGo) {
    while (!awaitUnused(LONG)) {
      LOG.debug(
          "Group \"{}\" is still in use by NCCL on rank {}", context.groupName(), context.rank());
    }
    letGo.run();
    LOG.info(
        "NCCL has let go of the communicators of group \"{}\" on rank {}, and nothing is left behind",
        context.groupName(),
        context.rank());
  }

  /**
   * Runs one step of the release. The next step runs even if this one fails: a GPU in error refuses
   * every call.
   */
  void letGoOf(String what, Runnable step) {
    try {
      step.run();
    } catch (RuntimeException | Error e) {
      LOG.warn("Rank {} could not let go of {} on {}", context.rank(), what, device.device(), e);
    }
  }
}
