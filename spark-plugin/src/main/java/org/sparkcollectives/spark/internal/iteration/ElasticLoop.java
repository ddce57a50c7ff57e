package org.sparkcollectives.spark.internal.iteration;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import org.sparkcollectives.ReduceOp;
import org.sparkcollectives.Tensor;
import org.sparkcollectives.spark.elastic.ReplicaRows;
import org.sparkcollectives.spark.internal.elastic.QuorumReplica;
import org.sparkcollectives.spark.iteration.IterationResult;
import org.sparkcollectives.spark.iteration.RowLoader;

/**
 * The loop of one replica: an iteration is a step, and is repeated if a replica was lost meanwhile.
 * The replicas that are there have all partitions among them, and each partition stands for a rank
 * of {@link IterationLoop}: so the numbers, and the order in which they are added, are the same.
 *
 * <p>As there, one alone computes the next state: the first participant. It works on a copy, since
 * an update may change the state in place, and the step may not be committed.
 *
 * @param <T> the type of the rows
 * @param <S> the type of the state
 * @param <D> the type of a partition's data
 */
public final class ElasticLoop<T, S, D> {

  private final QuorumReplica replica;
  private final ReplicaRows<T> rows;
  private final RowLoader<T, D> loader;
  private final CheckedFunctions<S, D> functions;
  private final int partitions;
  private final int maxIterations;

  /** By partition; empty if it has no rows. */
  private final Map<Integer, Optional<D>> data = new TreeMap<>();

  private final List<Double> losses = new ArrayList<>();
  private S state;
  private boolean converged;
  private long quorum;
  private int length = CheckedFunctions.ANY_LENGTH;

  /**
   * Creates the loop.
   *
   * @param rows of all partitions
   * @param partitions how many there are
   */
  public ElasticLoop(
      QuorumReplica replica,
      ReplicaRows<T> rows,
      RowLoader<T, D> loader,
      IterationFunctions<S, D> functions,
      int partitions,
      int maxIterations) {
    this.replica = replica;
    this.rows = rows;
    this.loader = loader;
    this.functions = new CheckedFunctions<>(functions);
    this.partitions = partitions;
    this.maxIterations = maxIterations;
  }

  /**
   * Runs the loop.
   *
   * @param initial the same on all replicas
   * @return the same on all replicas
   */
  public IterationResult<S> run(S initial) {
    state = initial;
    replica.state("iterations", this::save, this::load);
    // While others iterate, not in a step in which they would wait.
    data(replica.replicaId());
    while (replica.startQuorum() < maxIterations && !converged) {
      iterate((int) replica.currentStep() + 1);
    }
    return new IterationResult<>(
        state,
        (int) replica.currentStep(),
        converged,
        losses.stream().mapToDouble(Double::doubleValue).toArray());
  }

  private byte[] save() {
    return JavaBytes.of(new Progress<>(state, losses, converged));
  }

  private void load(byte[] bytes) {
    Progress<S> progress = JavaBytes.read(bytes);
    state = progress.state();
    losses.clear();
    losses.addAll(progress.losses());
    converged = progress.converged();
  }

  private void iterate(int iteration) {
    data.keySet().retainAll(replica.partitions());
    List<double[]> own = new ArrayList<>();
    for (int each : replica.partitions()) {
      own.add(functions.contribution(each, state, data(each), iteration, length));
    }
    CheckedFunctions.Next<S> next = agreeOnLength(own) ? next(own, iteration) : null;
    if (replica.shouldCommit()) {
      state = next.state();
      converged = next.converged();
      if (next.loss() != null) {
        losses.add(next.loss());
      }
    }
  }

  private Optional<D> data(int partition) {
    return data.computeIfAbsent(
        partition,
        number ->
            functions.load(
                number,
                () -> {
                  Iterator<T> its = rows.ofPartition(number);
                  return its.hasNext() ? Optional.of(loader.load(its)) : Optional.empty();
                }));
  }

  /** Finds out how long contributions are, once in each quorum; false if a replica was lost. */
  private boolean agreeOnLength(List<double[]> own) {
    if (replica.quorumId() == quorum) {
      return true;
    }
    long[] lengths = new long[partitions];
    Arrays.fill(lengths, ContributionLengths.NO_ROWS);
    for (int i = 0; i < own.size(); i++) {
      if (own.get(i) != null) {
        lengths[replica.partitions().get(i)] = own.get(i).length;
      }
    }
    if (!replica.exchange(group -> group.allReduce(Tensor.of(lengths), ReduceOp.MAX).await())) {
      return false;
    }
    length = ContributionLengths.agreed(lengths);
    quorum = replica.quorumId();
    return true;
  }

  /** Returns what all replicas have after the iteration; anything if one was lost. */
  private CheckedFunctions.Next<S> next(List<double[]> own, int iteration) {
    double[] total =
        replica.sumOverPartitions(
            own.stream().map(each -> each == null ? new double[length] : each).toList());
    if (replica.isLost()) {
      return null;
    }
    if (replica.participatingRank() > 0) {
      return received();
    }
    CheckedFunctions.Next<S> next = functions.next(copy(state), total, iteration);
    replica.exchange(group -> group.progress(iteration, maxIterations, next.text()));
    double[] head = {
      next.converged() ? 1 : 0, next.loss() == null ? 0 : 1, next.loss() == null ? 0 : next.loss()
    };
    replica.exchange(
        group -> {
          group.broadcast(Tensor.of(head), 0).await();
          if (next.state() instanceof double[] numbers) {
            group.broadcast(Tensor.of(numbers), 0).await();
          } else {
            group.objects().broadcast(next.state(), 0);
          }
        });
    return next;
  }

  private static <S> S copy(S state) {
    return JavaBytes.read(JavaBytes.of(state));
  }

  /** Returns what the first participant has computed. */
  @SuppressWarnings("unchecked")
  private CheckedFunctions.Next<S> received() {
    double[] head = new double[3];
    Object[] next = {null};
    replica.exchange(
        group -> {
          group.broadcast(Tensor.of(head), 0).await();
          if (state instanceof double[] before) {
            double[] numbers = new double[before.length];
            group.broadcast(Tensor.of(numbers), 0).await();
            next[0] = numbers;
          } else {
            next[0] = group.objects().broadcast(null, 0);
          }
        });
    return new CheckedFunctions.Next<>((S) next[0], head[1] > 0 ? head[2] : null, head[0] > 0);
  }
}
