package org.sparkcollectives.spark.internal.elastic;

import java.time.Duration;
import java.util.EnumSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.BooleanSupplier;
import java.util.function.Function;
import org.sparkcollectives.CollectiveTimeoutException;
import org.sparkcollectives.Failure;
import org.sparkcollectives.GroupAbortedException;
import org.sparkcollectives.PeerFailedException;
import org.sparkcollectives.spark.elastic.RunOverException;
import org.sparkcollectives.spark.internal.executor.DriverStoreClient;
import org.sparkcollectives.spark.internal.protocol.Quorum;
import org.sparkcollectives.spark.internal.protocol.QuorumRequest;
import org.sparkcollectives.spark.internal.protocol.RunKeys;
import org.sparkcollectives.spark.internal.protocol.RunRequest;
import org.sparkcollectives.store.StoreException;

/**
 * What a rank of a replica asks and tells the driver: who takes part in the next step, who does not
 * respond, and whether another replica waits. Not thread-safe.
 */
final class QuorumClient {

  private static final long KILL_CHECK_MILLIS = 20;

  /** The failures after which nothing is to be expected of a member, until it asks again. */
  private static final Set<Failure.Kind> UNREACHABLE =
      EnumSet.of(Failure.Kind.EXECUTOR_LOST, Failure.Kind.UNRESPONSIVE, Failure.Kind.TIMEOUT);

  private final RunRequest self;
  private final DriverStoreClient store;
  private final BooleanSupplier killed;

  /** The incarnations of members that do not respond, which the driver is told next. */
  private final Set<Long> unreachable = new LinkedHashSet<>();

  private CompletableFuture<byte[]> pending = new CompletableFuture<>();

  /**
   * Creates the client of a rank.
   *
   * @param killed whether the task must end
   */
  QuorumClient(RunRequest self, DriverStoreClient store, BooleanSupplier killed) {
    this.self = self;
    this.store = store;
    this.killed = killed;
  }

  /**
   * Asks for the next quorum. Blocks until the driver has decided it.
   *
   * @param request makes the request with those that do not respond
   * @param present the quorum before, of which members may be waited for
   * @param patience how long for them
   * @throws RunOverException if there are no further steps
   * @throws GroupAbortedException if the task must end
   * @throws StoreException if the driver refuses
   */
  Quorum ask(Function<List<Long>, QuorumRequest> request, Quorum present, Duration patience) {
    CompletableFuture<Quorum> answer = send(request);
    long asked = System.nanoTime();
    while (true) {
      try {
        Quorum next = answer.get(KILL_CHECK_MILLIS, TimeUnit.MILLISECONDS);
        if (next.isOver()) {
          throw new RunOverException(self.replica());
        }
        return next;
      } catch (TimeoutException e) {
        if (killed.getAsBoolean()) {
          throw new GroupAbortedException(self + " was killed while it waited for a quorum", e);
        }
        if (System.nanoTime() - asked > patience.toNanos()) {
          // Those that have asked, too, are not concerned; the others have had their time.
          present.members().forEach(each -> unreachable.add(each.incarnation()));
          unreachable.remove(self.incarnation());
          answer = send(request);
          asked = System.nanoTime();
        }
      } catch (InterruptedException e) {
        Thread.currentThread().interrupt();
        throw new GroupAbortedException(self + " was interrupted while it waited for a quorum", e);
      } catch (ExecutionException e) {
        throw new StoreException(e.getCause().getMessage(), e.getCause());
      }
    }
  }

  private CompletableFuture<Quorum> send(Function<List<Long>, QuorumRequest> request) {
    List<Long> accused = List.copyOf(unreachable);
    unreachable.clear();
    return store.askQuorum(request.apply(accused));
  }

  /** Listens for replicas that wait for a quorum after this one. */
  void watch(long quorum) {
    pending.cancel(false);
    pending = store.watch(RunKeys.pending(quorum));
  }

  /** Returns whether another replica waits, as far as this one knows. */
  boolean isAwaited() {
    return pending.isDone();
  }

  /** Notes the members of a quorum that do not respond, if an error tells so. */
  void accuse(RuntimeException e, Quorum of) {
    if (e instanceof PeerFailedException peer && UNREACHABLE.contains(peer.failure().kind())) {
      accuse(peer.failure().rank(), of);
    } else if (e instanceof CollectiveTimeoutException late) {
      for (int missing : late.missingRanks()) {
        accuse(missing, of);
      }
    }
  }

  private void accuse(int member, Quorum of) {
    if (member >= 0 && member < of.members().size()) {
      unreachable.add(of.members().get(member).incarnation());
    }
  }
}
