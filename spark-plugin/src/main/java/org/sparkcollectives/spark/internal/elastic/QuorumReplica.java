package org.sparkcollectives.spark.internal.elastic;

import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.function.BooleanSupplier;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.sparkcollectives.CollectiveException;
import org.sparkcollectives.CollectiveMismatchException;
import org.sparkcollectives.ProcessGroup;
import org.sparkcollectives.ReconfigurableGroup;
import org.sparkcollectives.ReduceOp;
import org.sparkcollectives.Tensor;
import org.sparkcollectives.spark.elastic.LostRows;
import org.sparkcollectives.spark.elastic.Replica;
import org.sparkcollectives.spark.internal.executor.DriverStoreClient;
import org.sparkcollectives.spark.internal.protocol.Quorum;
import org.sparkcollectives.spark.internal.protocol.QuorumRequest;
import org.sparkcollectives.spark.internal.protocol.RunRequest;
import org.sparkcollectives.spark.internal.protocol.StateVersion;
import org.sparkcollectives.store.Deadline;
import org.sparkcollectives.store.StoreConnectionException;
import org.sparkcollectives.store.StoreException;
import org.sparkcollectives.store.StoreTimeoutException;

/**
 * A rank of a replica, with torchft's protocol.
 *
 * <p>It asks the driver for a quorum only when its group has failed, or when a replica waits. The
 * latter must be known to all participants at the same step, or some would begin one that others do
 * not: each says in the vote of {@link #shouldCommit} whether it knows of one.
 *
 * <p>With each rank of the replica, the same rank of the other replicas forms a group. Any of these
 * may fail alone; so the ranks vote after each step, and after each meeting, whether it has
 * succeeded on all of them.
 *
 * <p>A step is committed by whoever gets the result of the vote. So a participant that got none may
 * be one step behind, but never on another way: its {@link StateVersion} tells.
 */
public final class QuorumReplica implements Replica {

  /** How long members of a quorum wait for each other, as in torchft. */
  private static final Duration MEETING = Duration.ofSeconds(60);

  /** No chain of deaths is as long; what fails so often fails for another reason. */
  private static final int MOST_FAILURES = 100;

  private static final Logger LOG = LoggerFactory.getLogger(QuorumReplica.class);

  private final RunRequest self;
  private final ReconfigurableGroup group;
  private final DriverStoreClient store;
  private final QuorumClient client;
  private final ReplicaVote ranks;
  private final PartitionAssignment assignment;
  private final int checkpointInterval;
  private final BooleanSupplier killed;
  private final HealingState state;
  private Quorum quorum = Quorum.OVER;
  private int rank;
  private List<List<Integer>> owned = List.of();
  private StateVersion version = StateVersion.NONE;
  private StateVersion kept = StateVersion.NONE;
  private boolean asks = true;
  private boolean inStep;
  private RuntimeException failure;
  private int failures;

  /**
   * Creates a replica that has begun.
   *
   * @param group which this rank forms with the same rank of other replicas
   * @param store the keys of the run
   * @param ranks of this replica
   * @param lostRows what becomes of the partitions of replicas that are away
   * @param replicas how many there may be, one for each partition
   * @param checkpointInterval after how many steps a checkpoint is kept; 0 for none
   * @param killed whether the task must end
   */
  public QuorumReplica(
      RunRequest self,
      ReconfigurableGroup group,
      DriverStoreClient store,
      ReplicaVote ranks,
      LostRows lostRows,
      int replicas,
      int checkpointInterval,
      BooleanSupplier killed) {
    this.self = self;
    this.group = group;
    this.store = store;
    this.client = new QuorumClient(self, store, killed);
    this.ranks = ranks;
    this.state = new HealingState(self.rank());
    this.assignment = new PartitionAssignment(lostRows, replicas);
    this.checkpointInterval = checkpointInterval;
    this.killed = killed;
  }

  /** Returns whether {@link #startQuorum} returns at once: nobody needs or waits for a state. */
  public boolean startsAtOnce() {
    return !asks && !isCheckpointDue();
  }

  /** Returns whether the task must end. */
  public boolean isKilled() {
    return killed.getAsBoolean();
  }

  /** Returns the group of the participants, which changes with the quorum. */
  public ReconfigurableGroup participants() {
    return group;
  }

  @Override
  public int replicaId() {
    return self.replica();
  }

  @Override
  public ProcessGroup group() {
    return ranks.group();
  }

  @Override
  public void state(String name, Tensor... tensors) {
    requireNotBegun(name);
    state.add(name, tensors);
  }

  @Override
  public void state(String name, Supplier<byte[]> save, Consumer<byte[]> load) {
    Objects.requireNonNull(save, "save");
    Objects.requireNonNull(load, "load");
    state(name, new SavedBytes(name, save, load));
  }

  /** Registers a part of the state whose size may change. */
  public void state(String name, StatePart part) {
    requireNotBegun(name);
    state.add(name, part);
  }

  private void requireNotBegun(String name) {
    Objects.requireNonNull(name, "name");
    if (quorumId() > 0) {
      throw new IllegalStateException(
          "State \"" + name + "\" must be registered before the first startQuorum()");
    }
  }

  @Override
  public long startQuorum() {
    if (inStep) {
      throw new IllegalStateException(
          "Step " + currentStep() + " has begun: shouldCommit() ends it");
    }
    if (state.isEmpty()) {
      throw new IllegalStateException(
          "Register the state by state(name, tensors) before the first startQuorum()");
    }
    while (asks) {
      meet(ask());
    }
    keepCheckpoint();
    inStep = true;
    return currentStep();
  }

  @Override
  public long currentStep() {
    return version.step();
  }

  @Override
  public int numParticipants() {
    return quorum.members().size();
  }

  @Override
  public int participatingRank() {
    return rank;
  }

  @Override
  public long quorumId() {
    return quorum.id();
  }

  @Override
  public List<Integer> partitions() {
    if (owned.isEmpty()) {
      throw new IllegalStateException(
          "Which partitions replica " + replicaId() + " has is known from startQuorum() on");
    }
    return ranks.size() == 1 ? owned.get(rank) : List.of(replicaId() * ranks.size() + self.rank());
  }

  @Override
  public double[] sumOverPartitions(List<double[]> own) {
    requireStep("sumOverPartitions");
    int length = PartitionSum.length(replicaId(), partitions(), own);
    double[][] sum = {new double[length]};
    exchange(participants -> sum[0] = PartitionSum.of(participants, owned, own));
    return sum[0];
  }

  @Override
  public void allReduce(Tensor tensor, ReduceOp op) {
    requireStep("allReduce");
    exchange(participants -> participants.allReduce(tensor, op).await());
  }

  @Override
  public boolean exchange(Consumer<ProcessGroup> collectives) {
    requireStep("exchange");
    if (failure == null) {
      try {
        collectives.accept(group);
      } catch (CollectiveException e) {
        failed(e, quorum);
      }
    }
    return !isLost();
  }

  /** Returns whether it is known already that the step will not be committed. */
  public boolean isLost() {
    return failure != null;
  }

  @Override
  public boolean shouldCommit() {
    return shouldCommit(null);
  }

  /**
   * Ends the step as {@link #shouldCommit()} does, unless it has failed here.
   *
   * @param error for which all participants do the step again; null if there is none
   */
  public boolean shouldCommit(String error) {
    requireStep("shouldCommit");
    int[] vote = {client.isAwaited() ? 1 : 0, error == null ? 0 : 1};
    allReduce(Tensor.of(vote), ReduceOp.MAX);
    inStep = false;
    boolean known = failure == null;
    ReplicaVote.Result result = ranks.vote(known, known && vote[0] > 0, known && vote[1] > 0);
    if (!haveAllSucceeded(result)) {
      return false;
    }
    asks = result.waits();
    if (result.error()) {
      attemptLost(error == null ? "another participant has reported an error" : error, quorum);
      return false;
    }
    failures = 0;
    version = new StateVersion(quorum.id(), version.step() + 1);
    return true;
  }

  /** Returns what the ranks have voted, and ends this rank's group if others have lost theirs. */
  private boolean haveAllSucceeded(ReplicaVote.Result result) {
    if (!result.allHaveSucceeded() && failure == null) {
      failure =
          new IllegalStateException(
              "Another rank of replica " + replicaId() + " has lost its attempt of this step");
      asks = true;
      // Other replicas may wait for this rank, and those of the rank that has failed do not.
      group.abort(failure);
    }
    return result.allHaveSucceeded();
  }

  private void requireStep(String call) {
    if (!inStep) {
      throw new IllegalStateException("startQuorum() must begin a step before " + call + "()");
    }
  }

  private Quorum ask() {
    boolean groupFailed = failure != null;
    failure = null;
    return client.ask(
        unreachable ->
            new QuorumRequest(group.handle(), state.layout(), version, groupFailed, unreachable),
        quorum,
        group.timeout());
  }

  /** Forms the group of a quorum, and brings its members up to the newest step. */
  private void meet(Quorum next) {
    requireSameLayout(next);
    try {
      if (next.id() != quorum.id()) {
        List<String> handles =
            next.members().stream().map(each -> each.request().handle()).toList();
        group.reconfigure(next.id(), handles, Deadline.smaller(MEETING, group.timeout()));
      }
      if (next.id() != quorum.id() || client.isAwaited()) {
        client.watch(next.id());
      }
      quorum = next;
      rank = next.rank(self.incarnation());
      owned = assignment.of(next.members().stream().map(Quorum.Member::replica).toList());
      heal();
    } catch (CollectiveException | StoreConnectionException | StoreTimeoutException e) {
      failed(e, next);
    }
    asks = !haveAllSucceeded(ranks.vote(failure == null, false, false));
  }

  private void requireSameLayout(Quorum next) {
    Quorum.Member source = next.members().get(next.source());
    String layout = state.layout();
    if (!layout.equals(source.request().layout())) {
      throw new IllegalStateException(
          "Replicas "
              + source.replica()
              + " and "
              + replicaId()
              + " have states that differ, so neither can take the other's: "
              + source.request().layout()
              + ", and "
              + layout);
    }
  }

  private void heal() {
    int source = quorum.source();
    List<Integer> receivers = quorum.receivers();
    if (rank == source) {
      if (quorum.checkpoint() != null) {
        state.restore(store, quorum.checkpoint());
      }
      state.send(group, receivers);
    } else if (receivers.contains(rank)) {
      version = StateVersion.NONE;
      long bytes = state.receive(group, source);
      LOG.info(
          "{} got the state of step {}, {} bytes, from replica {}",
          self,
          quorum.healed().step(),
          bytes,
          quorum.members().get(source).replica());
    }
    version = quorum.healed();
  }

  /** Records that the group is of no use any more, unless that is for the program to know. */
  private void failed(RuntimeException e, Quorum of) {
    if (e instanceof CollectiveMismatchException
        || killed.getAsBoolean()
        || Thread.currentThread().isInterrupted()) {
      throw e;
    }
    attemptLost(e.toString(), of);
    failure = e;
    asks = true;
    client.accuse(e, of);
  }

  private void attemptLost(String why, Quorum of) {
    if (++failures > MOST_FAILURES) {
      // Without a cause, which Spark's events would take for the loss of another replica.
      throw new IllegalStateException(
          self
              + " has failed "
              + failures
              + " times in a row, at last in quorum "
              + of.id()
              + ": "
              + why);
    }
    LOG.info("{} loses an attempt of step {} in quorum {}: {}", self, currentStep(), of.id(), why);
  }

  private boolean isCheckpointDue() {
    return checkpointInterval > 0
        && rank == 0
        && currentStep() > 0
        && currentStep() % checkpointInterval == 0
        && !version.equals(kept);
  }

  private void keepCheckpoint() {
    if (isCheckpointDue()) {
      boolean saved = keeps(() -> state.save(store, version));
      if (ranks.vote(saved, false, false).allHaveSucceeded() && self.rank() == 0) {
        keeps(() -> HealingState.complete(store, version));
      }
      if (failure == null || ranks.size() > 1) {
        kept = version;
      }
    }
  }

  private boolean keeps(Runnable part) {
    try {
      part.run();
      return true;
    } catch (StoreException e) {
      LOG.warn("{} cannot keep a checkpoint of step {}, and goes on", self, currentStep(), e);
      return false;
    } catch (CollectiveException e) {
      // A part of the state needs memory of the group, which has failed: the step has, too.
      failed(e, quorum);
      return false;
    }
  }
}
