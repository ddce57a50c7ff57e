package org.sparkcollectives.ddp;

import java.util.BitSet;
import java.util.List;
import java.util.function.LongSupplier;
import org.sparkcollectives.ProcessGroup;
import org.sparkcollectives.SparseTensor;
import org.sparkcollectives.Tensor;
import org.sparkcollectives.join.JoinStep;
import org.sparkcollectives.join.Joinable;

/** Leads a reducer from step to step: what may be called when, and when buckets are laid anew. */
final class ReducerCore {

  private final List<Parameter> parameters;
  private final ReducerOptions options;
  private final BucketPlan plan;
  private final StepAnnouncement announcement;
  private final StepClock clock;
  private CommHook hook;
  private ProcessGroup group;
  private ReducerChecks checks;
  private StepRunner runner;
  private volatile ReducerStep step;
  private boolean forward;
  private int pauses;
  private long steps;
  private int[] readyOrder;
  private boolean rebuilt;
  private boolean closed;

  /** Creates the core of a reducer, without a group. */
  ReducerCore(List<Parameter> parameters, ReducerOptions options, LongSupplier nanos) {
    this.parameters = List.copyOf(parameters);
    this.options = options;
    this.plan = BucketPlan.of(options, parameters);
    this.announcement = new StepAnnouncement(options);
    this.clock = new StepClock(nanos, options.statisticsEvery());
  }

  /** Takes a group that belongs to the reducer, and plans anew. */
  void use(ProcessGroup own) {
    group = own;
    checks = new ReducerChecks(own, parameters);
    runner = new StepRunner(own, parameters, options, clock);
    runner.memory().arrange(plan.first());
    if (hook != null) {
      runner.reduceBy(HookReduction.start(own, hook));
    }
    step = null;
    forward = false;
    readyOrder = null;
    rebuilt = false;
    announcement.end();
  }

  ProcessGroup group() {
    return group;
  }

  GradientMemory memory() {
    return runner.memory();
  }

  StepAnnouncement announcement() {
    return announcement;
  }

  Tensor gradient(int parameter) {
    checks.dense("gradient", parameter);
    return runner.memory().gradient(parameter);
  }

  SparseTensor sparseGradient(int parameter) {
    checks.sparse("sparseGradient", parameter);
    return runner.sparseMean(parameter);
  }

  void setHook(CommHook given) {
    requireOpen("setCommHook");
    checks.state(hook == null, "setCommHook", "the reducer has a hook already, and keeps it");
    checks.state(step == null && steps == 0, "setCommHook", "a hook is set before the first step");
    hook = given;
    runner.reduceBy(HookReduction.start(group, given));
  }

  void setWeight(double rows) {
    checks.rows(rows, options);
    requireNoStep("setWeight");
    announcement.setWeight(rows);
  }

  void beginForward(Joinable reducer) {
    requireNoStep("beginForward");
    checks.state(
        !announcement.isMade(),
        "beginForward",
        "each forward pass has a backward pass in a join and with a weighted mean, and there was"
            + " none since the last call");
    clock.forwardBegins(steps + 1);
    announcement.make(group, reducer, pauses == 0);
    if (pauses == 0) {
      rebuildIfDue();
    }
    forward = true;
  }

  private void rebuildIfDue() {
    if (readyOrder != null && !rebuilt) {
      int[] order = plan.complete(readyOrder);
      group.broadcast(Tensor.of(order), 0).await();
      runner.memory().arrange(plan.inOrder(order));
      rebuilt = true;
      runner.memory().tellOfRelocation();
    }
  }

  void beginBackward(Joinable reducer, BitSet unused) {
    requireNoStep("beginBackward");
    if (!unused.isEmpty()) {
      checks.parameter("beginBackward", unused.length() - 1);
      checks.unused(unused, options);
    }
    if (!forward) {
      beginForward(reducer);
    }
    checks.state(
        !announcement.contradicts(pauses == 0),
        "beginBackward",
        "in a join, noSync must cover the forward pass too");
    boolean synchronises = pauses == 0;
    ReducerStep begun =
        new ReducerStep(
            steps, parameters.size(), synchronises ? announcement.mean(group.size()) : null);
    if (announcement.fault() != null) {
      begun.fail(announcement.fault());
    }
    clock.backwardBegins(synchronises);
    runner.begin(begun, unused);
    step = begun;
  }

  void mark(int parameter) {
    checks.dense("markReady", parameter);
    runner.mark(requireStep("markReady"), parameter);
  }

  void mark(int parameter, SparseTensor gradient) {
    checks.sparse("markReady of a sparse tensor", parameter);
    checks.fits(parameter, gradient);
    runner.mark(requireStep("markReady"), parameter, gradient);
  }

  void finish() {
    IllegalStateException failure = end(requireStep("finish"), true);
    if (failure != null) {
      throw failure;
    }
  }

  void discard(Joinable reducer) {
    if (step == null) {
      requireOpen("discardStep");
      checks.state(forward, "discardStep", "no step is under way");
      beginBackward(reducer, new BitSet());
    }
    ReducerStep discarded = step;
    discarded.fail("discarded the step");
    end(discarded, true);
  }

  /** Takes part in a step of a join without rows. */
  void shadow(JoinStep joined) {
    requireNoStep("shadowStep");
    clock.forwardBegins(steps + 1);
    rebuildIfDue();
    ReducerStep begun =
        new ReducerStep(
            steps, parameters.size(), announcement.meanWithoutRows(group.size(), joined));
    clock.backwardBegins(true);
    step = begun;
    runner.beginWithoutRows(begun);
    IllegalStateException failure = end(begun, false);
    if (failure != null) {
      throw failure;
    }
  }

  private IllegalStateException end(ReducerStep ended, boolean own) {
    boolean fixed = runner.used().isFixed();
    IllegalStateException failure;
    try {
      failure = runner.finish(ended, own);
    } finally {
      step = null;
      forward = false;
      announcement.end();
    }
    if (failure != null) {
      clock.stepFails(failure.getMessage());
    } else if (ended.synchronises()) {
      steps++;
      clock.stepEnds(steps, ended.readyOrder());
      if (plan.willBeRebuilt() && readyOrder == null && (fixed || !options.staticGraph())) {
        readyOrder = ended.readyOrder();
      }
    }
    return failure;
  }

  NoSync pause() {
    pauses++;
    return new NoSync(() -> pauses--);
  }

  ReducerStatistics statistics() {
    return clock.statistics(steps, runner.memory().buckets(), rebuilt);
  }

  void close() {
    if (!closed) {
      closed = true;
      step = null;
      release();
    }
  }

  void release() {
    runner.close();
    group.close();
  }

  void requireOpen(String operation) {
    checks.state(!closed, operation, "the reducer is closed");
  }

  private void requireNoStep(String operation) {
    requireOpen(operation);
    checks.state(step == null, operation, "a step is under way; call finish or discardStep first");
  }

  private ReducerStep requireStep(String operation) {
    requireOpen(operation);
    ReducerStep current = step;
    checks.state(current != null, operation, "no step is under way; call beginBackward first");
    return current;
  }
}
