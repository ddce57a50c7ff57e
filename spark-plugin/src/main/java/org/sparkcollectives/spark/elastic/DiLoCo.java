package org.sparkcollectives.spark.elastic;

import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.ThreadLocalRandom;
import org.sparkcollectives.DType;
import org.sparkcollectives.ReduceOp;
import org.sparkcollectives.Tensor;

/**
 * Trains each replica by itself for many steps, and then synchronizes: DiLoCo (Douillard et al.,
 * 2023), with its streaming fragments (2025), and local SGD. For replicas that are connected by
 * slow links, or come and go: they need each other at a synchronization only.
 *
 * <pre>{@code
 * DiLoCo diloco = DiLoCo.of(replica, List.of(weights, bias), DiLoCoOptions.of(500));
 * diloco.start();
 * while (replica.currentStep() < rounds) {
 *   inner.step(batches.next());     // changes weights and bias
 *   diloco.step();
 * }
 * }</pre>
 *
 * <p>Beside the parameters that a replica trains, there are <b>global</b> ones, the same on all
 * replicas. A synchronization takes the mean of what the replicas have changed since the last one,
 * goes one outer step along it from the global parameters, and sets the replica's to the result. It
 * is one step of the {@link Replica}, and so a <b>round</b> of {@link Replica#currentStep}; with
 * several fragments each round is that of one.
 *
 * <p>A replica that is lost does not cost the others an inner step: the round is repeated without
 * it. One that begins, or was left out, receives the global parameters and the outer momentum,
 * begins from them, and has no part in the mean of that round. The state of the inner optimizer
 * does not heal: a replica that begins starts with its own. Needs the memory of two further copies
 * of the parameters, three with an outer momentum. Not thread-safe.
 */
public final class DiLoCo {

  private final Replica replica;
  private final DiLoCoOptions options;
  private final List<Fragment> fragments = new ArrayList<>();

  /**
   * Differs after each round, so that one who has received the state of others sees it: a sum of
   * numbers that the participants have drawn.
   */
  private final long[] mark = {0};

  private boolean started;
  private long innerSteps;

  private DiLoCo(Replica replica, DiLoCoOptions options) {
    this.replica = replica;
    this.options = options;
  }

  /**
   * Registers parameters for synchronization, before the first {@link Replica#startQuorum}.
   *
   * @param parameters float32 or float64 in the memory of the host; the same types and shapes on
   *     all replicas. The program trains them in place
   * @throws IllegalArgumentException if a parameter has another type, or there are fewer parameters
   *     than fragments
   * @throws IllegalStateException after the first {@code startQuorum}
   */
  public static DiLoCo of(Replica replica, List<Tensor> parameters, DiLoCoOptions options) {
    Objects.requireNonNull(replica, "replica");
    Objects.requireNonNull(options, "options");
    requireFloats(parameters);
    int parts = options.fragments();
    if (parameters.size() < parts) {
      throw new IllegalArgumentException(
          parameters.size() + " parameters cannot be divided into " + parts + " fragments");
    }
    DiLoCo diloco = new DiLoCo(replica, options);
    for (int part = 0; part < parts; part++) {
      int from = parameters.size() * part / parts;
      int to = parameters.size() * (part + 1) / parts;
      diloco.fragments.add(new Fragment(parameters.subList(from, to), options.momentum() > 0));
    }
    Tensor[] state =
        diloco.fragments.stream()
            .flatMap(fragment -> fragment.state().stream())
            .toArray(Tensor[]::new);
    replica.state("DiLoCo", state);
    replica.state("DiLoCo mark", Tensor.of(diloco.mark));
    return diloco;
  }

  private static void requireFloats(List<Tensor> parameters) {
    for (int i = 0; i < parameters.size(); i++) {
      DType type = parameters.get(i).dtype();
      if (type != DType.FLOAT32 && type != DType.FLOAT64) {
        throw new IllegalArgumentException(
            "Parameter "
                + i
                + " is "
                + type
                + "; DiLoCo synchronizes FLOAT32 and FLOAT64, so train a copy in one of them");
      }
    }
  }

  /**
   * Takes the global parameters, in a first round that changes none. Blocks as {@link
   * Replica#startQuorum} does, and where others train already, until their next synchronization.
   *
   * @throws RunOverException if others have finished the run
   * @throws IllegalStateException if it has started
   */
  public void start() {
    if (started) {
      throw new IllegalStateException("DiLoCo has started already");
    }
    synchronize(false);
    started = true;
  }

  /**
   * Counts an inner step, and synchronizes if it is time to: then blocks until all participants
   * have come so far, for the group's timeout at the most.
   *
   * @return whether it has synchronized
   * @throws RunOverException if others have finished the run
   * @throws IllegalStateException before {@link #start}
   */
  public boolean step() {
    if (!started) {
      throw new IllegalStateException("start() must come before step()");
    }
    if (++innerSteps % (options.syncEvery() / options.fragments()) != 0) {
      return false;
    }
    synchronize(true);
    return true;
  }

  private void synchronize(boolean trained) {
    long before = mark[0];
    boolean contributes = trained;
    long[] counts;
    Fragment fragment;
    do {
      fragment = fragments.get((int) (replica.startQuorum() % fragments.size()));
      // Its changes are not from the parameters that it has received.
      contributes &= mark[0] == before;
      counts = new long[] {contributes ? 1 : 0, ThreadLocalRandom.current().nextLong()};
      replica.allReduce(Tensor.of(counts), ReduceOp.SUM);
      for (Tensor change : fragment.changes(contributes)) {
        replica.allReduce(change, ReduceOp.SUM);
      }
    } while (!replica.shouldCommit());
    mark[0] = counts[1];
    if (counts[0] > 0) {
      fragment.step(counts[0], options);
    }
    (contributes ? List.of(fragment) : fragments).forEach(Fragment::toGlobal);
  }
}
