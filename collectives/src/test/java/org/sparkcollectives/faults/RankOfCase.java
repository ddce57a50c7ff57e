package org.sparkcollectives.faults;

import java.net.InetSocketAddress;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.locks.LockSupport;
import org.sparkcollectives.CollectiveException;
import org.sparkcollectives.GroupOptions;
import org.sparkcollectives.ProcessGroup;
import org.sparkcollectives.ReduceOp;
import org.sparkcollectives.Tensor;
import org.sparkcollectives.Work;
import org.sparkcollectives.net.TransportSecurity;
import org.sparkcollectives.spi.HostedGroups;
import org.sparkcollectives.spi.RankContext;
import org.sparkcollectives.store.Store;
import org.sparkcollectives.store.StoreException;
import org.sparkcollectives.store.TcpStore;

/**
 * Runs one rank's part in a case: it reaches the phase, and is hit by the fault, or by what
 * follows.
 */
final class RankOfCase {

  private final FaultCase fault;
  private final int rank;
  private final InetSocketAddress storeAddress;
  private final RankContext context;
  private final Runnable awaitGo;
  private final boolean strikes;
  private Thread aborting;
  private boolean ended;

  /**
   * Creates the part of this process.
   *
   * @param storeAddress where the store is, or what passes connections on to it
   * @param awaitGo says that this rank is ready, and waits until all are
   */
  RankOfCase(
      FaultCase fault,
      int rank,
      InetSocketAddress storeAddress,
      RankContext context,
      Runnable awaitGo) {
    this.fault = fault;
    this.rank = rank;
    this.storeAddress = storeAddress;
    this.context = context;
    this.awaitGo = awaitGo;
    this.strikes = rank == fault.victim() && fault.fault().isOwn();
  }

  /** Runs all of it, and prints how it went. */
  void run() {
    String closing = "";
    try {
      if (fault.phase() == Phase.RENDEZVOUS) {
        awaitGo.run();
        if (strikes && !strikeBeforeJoining()) {
          end(Outcome.well("does not join"));
        } else {
          join(FaultSettings.RENDEZVOUS);
        }
      } else {
        join(FaultSettings.PATIENCE);
      }
    } catch (RuntimeException e) {
      if (ended) {
        closing = e.toString().replace('\n', ' ');
      } else {
        end(Outcome.of(e));
      }
    }
    System.out.println("closed\t" + closing);
  }

  private void end(Outcome outcome) {
    ended = true;
    if (aborting != null) {
      // This does not depend on whether the group has waited for it.
      awaitEnd(aborting);
    }
    System.out.println("ended\t" + outcome.encode());
  }

  private static void awaitEnd(Thread thread) {
    try {
      thread.join();
    } catch (InterruptedException e) {
      throw new IllegalStateException("nobody interrupts the ranks of these cases", e);
    }
  }

  private static void sayFault() {
    System.out.println("fault\t" + Outcome.now());
  }

  private static void park(Duration time) {
    long end = System.nanoTime() + time.toNanos();
    for (long left = time.toNanos(); left > 0; left = end - System.nanoTime()) {
      LockSupport.parkNanos(left);
    }
  }

  /**
   * Applies a fault that comes before the victim joins; returns whether the victim joins
   * nevertheless, too late.
   */
  private boolean strikeBeforeJoining() {
    park(fault.moment());
    sayFault();
    if (fault.fault() == Fault.SLOW) {
      park(FaultSettings.RENDEZVOUS.multipliedBy(3).dividedBy(2));
      return true;
    }
    return false;
  }

  private void join(Duration rendezvousTimeout) {
    GroupOptions options =
        GroupOptions.defaults()
            .withName("case-" + fault.number())
            .withTimeout(FaultSettings.PATIENCE)
            .withTransports(fault.transports());
    try (Store store = connect(storeAddress, rendezvousTimeout);
        ProcessGroup world = HostedGroups.create(store, rank, fault.size(), options, context)) {
      try {
        inGroup(world);
      } catch (CollectiveException | StoreException e) {
        end(Outcome.of(e));
        if (fault.shrinks() && rank != fault.victim()) {
          shrink(world);
        }
      }
    }
  }

  private static Store connect(InetSocketAddress address, Duration timeout) {
    return TcpStore.connect(
        address.getHostString(),
        address.getPort(),
        FaultSettings.SECRET,
        TransportSecurity.plain(),
        timeout);
  }

  /** Checks that what remains of the group still works. */
  private void shrink(ProcessGroup world) {
    try (ProcessGroup rest = world.shrink(fault.victim())) {
      long[] sum = {1};
      rest.allReduce(Tensor.of(sum), ReduceOp.SUM).await();
      // No rank leaves while another may still need it.
      rest.barrier().await();
      System.out.println("shrunk\t" + sum[0]);
    } catch (CollectiveException | StoreException e) {
      System.out.println("shrunk\t" + Outcome.of(e).encode());
    }
  }

  private void inGroup(ProcessGroup world) {
    PhaseWork work = new PhaseWork(fault, world);
    if (fault.phase().isWarm()) {
      work.warmUp();
    }
    if (fault.phase() != Phase.RENDEZVOUS) {
      awaitGo.run();
    }
    PhaseWork timed =
        fault.fault() == Fault.SLOW
            ? new PhaseWork(fault, world.withTimeout(FaultSettings.DEADLINE))
            : work;
    if (strikes && fault.phase() != Phase.RENDEZVOUS) {
      strike(world, timed);
    } else if (fault.phase() == Phase.CLOSE) {
      close(world, timed);
    } else {
      timed.forEver();
    }
  }

  private void strike(ProcessGroup world, PhaseWork work) {
    IllegalStateException thrown = new IllegalStateException("what the victim has thrown");
    if (fault.fault() == Fault.EXCEPTION && fault.abortsFromAnotherThread()) {
      aborting =
          new Thread(
              () -> {
                park(fault.moment());
                sayFault();
                world.abort(thrown);
              },
              "abort");
      aborting.start();
      if (fault.phase() == Phase.CLOSE) {
        close(world, work);
      } else {
        work.forEver();
      }
      return;
    }
    if (fault.phase().isWarm() && fault.phase().isEndless()) {
      work.during(fault.moment());
    } else {
      park(fault.moment());
    }
    sayFault();
    switch (fault.fault()) {
      case EXCEPTION -> {
        world.abort(thrown);
        end(Outcome.well("has aborted"));
      }
      case SLOW -> {
        park(FaultSettings.DEADLINE.multipliedBy(2));
        if (fault.phase() == Phase.CLOSE) {
          close(world, work);
        } else {
          work.forEver();
        }
      }
      default -> end(Outcome.well("returns"));
    }
  }

  /** Closes the group while an all-reduce of it is pending. */
  private void close(ProcessGroup world, PhaseWork work) {
    Work last = work.beginLargeAllReduce();
    world.close();
    if (!last.isCompleted()) {
      throw new IllegalStateException("close has returned with the all-reduce still under way");
    }
    end(last.isSuccess() ? Outcome.well("has closed") : Outcome.of(last.exception()));
  }

  /** Joins a new group over the same store, and reduces in it. */
  static void meetAgain(
      int rank, int size, InetSocketAddress storeAddress, String name, RankContext context) {
    GroupOptions options =
        GroupOptions.defaults().withName(name).withTimeout(FaultSettings.PATIENCE);
    String said;
    try (Store store = connect(storeAddress, FaultSettings.PATIENCE);
        ProcessGroup group = HostedGroups.create(store, rank, size, options, context)) {
      long[] sum = new long[10_000];
      java.util.Arrays.fill(sum, rank + 1);
      group.allReduce(Tensor.of(sum), ReduceOp.SUM).await();
      long[] kept = {-1, -1};
      group.restore(PhaseWork.REPLICATED, List.of(Tensor.of(kept)));
      group.barrier().await();
      said = sum[9_999] + "\t" + (kept[0] == kept[1] ? "whole" : "torn");
    } catch (RuntimeException e) {
      said = Outcome.of(e).encode();
    }
    System.out.println("reduced\t" + said);
  }
}
