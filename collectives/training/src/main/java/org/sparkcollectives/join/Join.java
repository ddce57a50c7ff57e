package org.sparkcollectives.join;

import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.Callable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.sparkcollectives.ProcessGroup;
import org.sparkcollectives.ReduceOp;
import org.sparkcollectives.Tensor;
import org.sparkcollectives.spi.CallCheck;

/**
 * Trains on uneven inputs: a rank that has run out of rows takes part in the others' steps until
 * all have. The semantics are those of c10d's {@code Join}.
 *
 * <pre>{@code
 * Join.run(new JoinOptions(), List.of(reducer), () -> {
 *   while (batches.hasNext()) {
 *     train(batches.next());
 *   }
 *   return null;
 * });
 * }</pre>
 *
 * <p>Each step costs one all-reduce of 24 bytes, in the group of the first joinable. Within the
 * body all collectives of that group must be those of the joinables: others would have no
 * counterpart on a rank that has joined.
 */
public final class Join {

  private static final Logger LOG = LoggerFactory.getLogger(Join.class);

  /** The number of steps without rows after which a rank logs a warning, as in c10d. */
  private static final int WARNING_STEPS = 1000;

  private final JoinOptions options;
  private final List<Joinable> joinables;
  private final ProcessGroup group;
  private volatile JoinStep current;
  private volatile EarlyTerminationException termination;

  private Join(JoinOptions options, List<Joinable> joinables) {
    this.options = options;
    this.joinables = joinables;
    this.group = joinables.get(0).processGroup();
  }

  /**
   * Runs this rank's steps, and then takes part in those of the ranks that have more. A collective:
   * all ranks of the joinables call it, with the same options. Blocks until all ranks have done all
   * their steps; each wait within has the group's timeout.
   *
   * <p>If {@code body} or a hook throws on a rank, the groups of all joinables are aborted with
   * that as cause, and every rank throws. {@link EarlyTerminationException} aborts nothing.
   *
   * @param joinables at least one, in the same order on all ranks; all with groups of the same
   *     ranks
   * @param body this rank's steps
   * @return what {@code body} returned
   * @throws IllegalArgumentException if {@code joinables} is empty; on all ranks, if they have
   *     different options or numbers of joinables, or if the joinables of one have different ranks
   * @throws IllegalStateException on the ranks where a joinable is in another join
   * @throws org.sparkcollectives.CollectiveException on the other ranks then
   * @throws EarlyTerminationException on all ranks, see {@link JoinOptions#throwOnEarlyTermination}
   * @throws Exception what {@code body} throws
   */
  public static <T> T run(JoinOptions options, List<? extends Joinable> joinables, Callable<T> body)
      throws Exception {
    if (joinables.isEmpty()) {
      throw new IllegalArgumentException("A join needs at least one joinable, and none was given");
    }
    Join join = new Join(options, List.copyOf(joinables));
    join.check(body);
    if (!options.enabled()) {
      return body.call();
    }
    try {
      return join.runAll(body);
    } finally {
      RunningJoins.remove(join.joinables);
    }
  }

  /**
   * Begins a step of a rank that has rows, and tells the other ranks. A joinable calls it before
   * the collectives of each step; see {@link #notifyStep(Joinable, boolean, double)}.
   */
  public static Optional<JoinStep> notifyStep(Joinable joinable) {
    return notifyStep(joinable, true, 0);
  }

  /**
   * Begins a step of a rank that has rows, and tells the other ranks. Only the first joinable of a
   * join begins an all-reduce; the others get the step that the first has begun. Does not wait for
   * other ranks, unless all are to throw when one has run out of rows.
   *
   * @param synchronises whether the joinable runs its collectives in this step; if not, ranks
   *     without rows skip the step
   * @param rows on how many rows this rank's step is; 0 where nobody asks {@link JoinStep#rows}
   * @return the step, which tells what all ranks have given; empty if {@code joinable} is not in a
   *     join, or the join is switched off
   * @throws EarlyTerminationException on all ranks, see {@link JoinOptions#throwOnEarlyTermination}
   */
  public static Optional<JoinStep> notifyStep(
      Joinable joinable, boolean synchronises, double rows) {
    if (!(rows >= 0 && rows < Double.POSITIVE_INFINITY)) {
      throw new IllegalArgumentException("A step is on 0 or more rows, not on " + rows);
    }
    Join join = RunningJoins.of(joinable);
    return join == null ? Optional.empty() : Optional.of(join.step(joinable, synchronises, rows));
  }

  private void check(Callable<?> body) {
    new CallCheck(group, "Join")
        .compare(
            () -> {
              Objects.requireNonNull(options, "options");
              Objects.requireNonNull(body, "body");
              for (Joinable each : joinables) {
                requireSameRanks(each.processGroup());
                requireOnce(each);
              }
              if (options.enabled()) {
                RunningJoins.requireNone(joinables);
              }
              return List.of(options.toString(), joinables.size() + " joinables");
            });
  }

  private void requireSameRanks(ProcessGroup other) {
    if (!Arrays.equals(other.globalRanks(), group.globalRanks())) {
      throw new IllegalArgumentException(
          "all joinables of a join must have the same ranks; the first has those of group \""
              + group.name()
              + "\", "
              + Arrays.toString(group.globalRanks())
              + ", and another those of group \""
              + other.name()
              + "\", "
              + Arrays.toString(other.globalRanks()));
    }
  }

  private void requireOnce(Joinable joinable) {
    if (joinables.stream().filter(each -> each == joinable).count() > 1) {
      throw new IllegalArgumentException(joinable + " is given more than once; give it once");
    }
  }

  private <T> T runAll(Callable<T> body) throws Exception {
    try {
      RunningJoins.add(joinables, this);
      List<JoinHook> hooks = joinables.stream().map(each -> each.joinHook(options)).toList();
      T result = body.call();
      if (termination != null) {
        throw termination; // The body has caught it, and the other ranks have left.
      }
      int lastJoiner = shadow(hooks);
      hooks.forEach(each -> each.afterAllJoined(lastJoiner));
      return result;
    } catch (Throwable e) {
      if (termination == null) {
        abort(e);
      }
      throw e;
    }
  }

  private void abort(Throwable cause) {
    for (Joinable each : joinables) {
      try {
        each.processGroup().abort(cause);
      } catch (RuntimeException e) {
        cause.addSuppressed(e); // The body may have closed the group.
      }
    }
  }

  private JoinStep step(Joinable joinable, boolean synchronises, double rows) {
    if (termination != null) {
      throw termination; // The body has caught it, and the other ranks have left.
    }
    JoinStep step = current;
    if (joinable == joinables.get(0)) {
      step = JoinStep.active(group, options, synchronises, rows);
      current = step;
    }
    if (step == null) {
      throw new IllegalStateException(
          where()
              + ": the first joinable must begin each step, and a later one has begun the first;"
              + " give the joinables to Join.run in the order of their steps");
    }
    if (options.throwOnEarlyTermination() && step.activeRanks() < group.size()) {
      throw terminate(
          group.size()
              + " ranks began, of which "
              + step.activeRanks()
              + " still have rows, so all ranks stop; give all ranks the same number of steps, or"
              + " let them go on with withThrowOnEarlyTermination(false)");
    }
    return step;
  }

  /** Takes part in the steps of ranks that have rows, and returns whose state counts in the end. */
  private int shadow(List<JoinHook> hooks) {
    int steps = 0;
    while (true) {
      JoinStep step = JoinStep.joined(group, options);
      if (step.activeRanks() == 0) {
        int[] last = {steps == 0 ? group.rank() : -1};
        group.allReduce(Tensor.of(last), ReduceOp.MAX).await();
        return last[0];
      }
      if (options.throwOnEarlyTermination()) {
        throw terminate(
            "this rank has run out of rows and "
                + step.activeRanks()
                + " others have not, so all ranks stop");
      }
      if (step.synchronises()) {
        current = step;
        hooks.forEach(each -> each.shadowStep(step));
      }
      if (++steps == WARNING_STEPS) {
        LOG.warn(
            "{}: no rows since {} steps, while {} others have; distribute the rows more evenly",
            where(),
            steps,
            step.activeRanks());
      }
    }
  }

  private EarlyTerminationException terminate(String reason) {
    termination = new EarlyTerminationException(where() + ": " + reason);
    return termination;
  }

  private String where() {
    return "Join of group \"" + group.name() + "\" on rank " + group.rank() + " of " + group.size();
  }
}
