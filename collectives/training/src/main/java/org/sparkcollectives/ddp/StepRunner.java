package org.sparkcollectives.ddp;

import java.util.Arrays;
import java.util.BitSet;
import java.util.List;
import org.sparkcollectives.ProcessGroup;
import org.sparkcollectives.SparseTensor;
import org.sparkcollectives.Tensor;
import org.sparkcollectives.store.Deadline;

/** Takes the gradients of one step after the other through their buckets. */
final class StepRunner {

  private final ProcessGroup group;
  private final List<Parameter> parameters;
  private final GradientMemory memory;
  private final UsedParameters used;
  private final StepFailure failure;
  private final Tensor[] untouched;
  private final SparseTensor[] sparse;
  private final SparseTensor[] sparseMeans;
  private final StepClock clock;
  private BucketReduction reduction;
  private BucketLauncher launcher;

  StepRunner(
      ProcessGroup group, List<Parameter> parameters, ReducerOptions options, StepClock clock) {
    this.group = group;
    this.clock = clock;
    this.parameters = parameters;
    this.memory = new GradientMemory(group, parameters, options);
    this.used = new UsedParameters(options, parameters.size());
    this.failure = new StepFailure(parameters);
    this.untouched = new Tensor[parameters.size()];
    this.sparse = new SparseTensor[parameters.size()];
    this.sparseMeans = new SparseTensor[parameters.size()];
    reduceBy(new DirectReduction(group));
  }

  void reduceBy(BucketReduction other) {
    reduction = other;
    launcher = new BucketLauncher(group, other, clock);
  }

  GradientMemory memory() {
    return memory;
  }

  UsedParameters used() {
    return used;
  }

  SparseTensor sparseMean(int parameter) {
    return sparseMeans[parameter];
  }

  /** Begins a step. Parameters that are known not to be used contribute what their memory holds. */
  void begin(ReducerStep step, BitSet unused) {
    open(step);
    for (int i = 0; i < parameters.size(); i++) {
      if ((unused.get(i) || used.isKnownAsUnused(i)) && step.markUnused(i)) {
        contributeUnused(step, i);
      }
    }
  }

  private void open(ReducerStep step) {
    if (step.synchronises()) {
      for (ReducerBucket bucket : memory.buckets()) {
        bucket.begin(step.number());
      }
      launcher.beginStep(memory.buckets(), step);
    }
  }

  void mark(ReducerStep step, int parameter) {
    requireMark(step, parameter);
    clock.gradientIsReady();
    contribute(step, parameter);
  }

  void mark(ReducerStep step, int parameter, SparseTensor gradient) {
    requireMark(step, parameter);
    clock.gradientIsReady();
    SparseTensor before = sparse[parameter];
    sparse[parameter] = before == null ? gradient : SparseRows.sum(before, gradient);
    contribute(step, parameter);
  }

  private void requireMark(ReducerStep step, int parameter) {
    String reason = null;
    if (!used.mayBeUsed(parameter)) {
      reason =
          "used "
              + failure.named(parameter)
              + ", which its first step did not use, although the graph is static";
    } else if (!step.markUsed(parameter)) {
      reason =
          "marked "
              + failure.named(parameter)
              + (step.isUnused(parameter) ? ", which was said to be unused," : " twice")
              + " in one step";
    }
    if (reason != null) {
      step.fail(reason);
      throw new IllegalStateException(
          "Rank "
              + group.rank()
              + " "
              + reason
              + ". Mark each parameter once between beginBackward and finish; finish and"
              + " discardStep now end this step on all ranks without a result");
    }
  }

  private void contribute(ReducerStep step, int parameter) {
    if (!step.synchronises()) {
      return;
    }
    ReducerBucket bucket = memory.bucketOf(parameter);
    if (bucket.isSparse()) {
      SparseTensor own = sparse[parameter];
      bucket.setSparse(own == null ? SparseRows.none(parameters.get(parameter).value()) : own);
    } else {
      collect(step, parameter);
    }
    arrive(bucket);
  }

  /** Copies a gradient; where that fails, the step fails on all ranks, which do not wait for it. */
  private void collect(ReducerStep step, int parameter) {
    try {
      memory.collect(parameter);
    } catch (RuntimeException e) {
      step.fail("could not read the gradient of " + failure.named(parameter) + ": " + e);
    }
  }

  private void contributeUnused(ReducerStep step, int parameter) {
    if (step.synchronises() && memory.isView(parameter)) {
      untouched[parameter] = GradientMemory.copyOf(memory.place(parameter));
    }
    contribute(step, parameter);
  }

  private void contributeZeros(int parameter) {
    ReducerBucket bucket = memory.bucketOf(parameter);
    if (bucket.isSparse()) {
      bucket.setSparse(SparseRows.none(parameters.get(parameter).value()));
    } else {
      TensorArithmetic.zero(memory.place(parameter));
    }
    arrive(bucket);
  }

  private void arrive(ReducerBucket bucket) {
    if (bucket.arrive()) {
      launcher.advance();
    }
  }

  /**
   * Takes part in a step without rows of its own: contributes zeros for all parameters. Gradients
   * are zero before, as where an engine has set them to zero, so that those that no rank uses in
   * this step do not keep the means of an earlier one.
   */
  void beginWithoutRows(ReducerStep step) {
    open(step);
    for (int i = 0; i < parameters.size(); i++) {
      if (step.markUnused(i)) {
        if (!parameters.get(i).sparse()) {
          TensorArithmetic.zero(memory.gradient(i));
        }
        contributeZeros(i);
      }
    }
  }

  /**
   * Ends a step: waits until all gradients are reduced.
   *
   * @param own whether this rank had rows
   * @return what all ranks throw, if one of them could not finish the step; else null
   */
  IllegalStateException finish(ReducerStep step, boolean own) {
    if (!step.synchronises()) {
      used.note(step.used());
      return null;
    }
    contributeMissing(step);
    used.note(step.used());
    StepAgreement agreement = reduce(step);
    if (agreement == null ? TensorArithmetic.isNonZero(memory.last().flag()) : agreement.failed()) {
      discard();
      return failure.ofAll(group, step.number(), step.fault());
    }
    used.reduced(used.mustBeShared() ? agreement.used() : null, own);
    for (int i = 0; i < parameters.size(); i++) {
      distribute(i);
    }
    forget();
    return null;
  }

  private void contributeMissing(ReducerStep step) {
    boolean allowed = used.mayBeMissing();
    BitSet missing = step.missing();
    // Another thread may still mark some of them.
    for (int i = missing.nextSetBit(0); i >= 0; i = missing.nextSetBit(i + 1)) {
      missing.set(i, step.markUnused(i));
    }
    if (!allowed && !missing.isEmpty()) {
      step.fail(failure.unmarked(missing));
    }
    for (int i = missing.nextSetBit(0); i >= 0; i = missing.nextSetBit(i + 1)) {
      if (allowed) {
        contributeUnused(step, i);
      } else {
        contributeZeros(i);
      }
    }
  }

  /**
   * Reduces what is left, and waits for all of it.
   *
   * @return what the ranks agree on; null if the flag of the last bucket says it
   */
  private StepAgreement reduce(ReducerStep step) {
    boolean shared = used.mustBeShared();
    ReducerBucket last = memory.last();
    boolean flagged =
        !shared && !last.isSparse() && !reduction.mayFailAlone() && step.mean().keepsFlag();
    endStep();
    // Only now: a mark that came before may have failed while this thread waited for it.
    boolean faulty = step.fault() != null;
    BitSet bits = shared ? used.noted() : new BitSet();
    int count = shared ? parameters.size() : 0;
    if (reduction.mayFailAlone()) {
      // Only a rank that has all its gradients may tell the others so.
      awaitBuckets();
      return reduction.afterwards(() -> StepAgreement.begin(group, count, faulty, bits));
    }
    StepAgreement agreement = flagged ? null : StepAgreement.begin(group, count, faulty, bits);
    awaitBuckets();
    return agreement;
  }

  /** Begins what is left; where that fails, the other ranks would wait for this one in vain. */
  private void endStep() {
    try {
      launcher.endStep(Deadline.after(group.timeout()));
    } catch (RuntimeException | Error e) {
      group.abort(e);
      throw e;
    }
  }

  private void awaitBuckets() {
    memory.buckets().forEach(ReducerBucket::awaitReduction);
  }

  private void distribute(int parameter) {
    boolean result = used.isUsedAnywhere(parameter);
    if (parameters.get(parameter).sparse()) {
      sparseMeans[parameter] = result ? memory.bucketOf(parameter).sparse() : null;
    } else if (result) {
      memory.distribute(parameter);
    } else if (untouched[parameter] != null) {
      memory.place(parameter).copyFrom(untouched[parameter]);
    }
  }

  /** Forgets what has been accumulated; views are zero then, because their values are lost. */
  private void discard() {
    forget();
    for (int i = 0; i < parameters.size(); i++) {
      if (memory.isView(i)) {
        TensorArithmetic.zero(memory.place(i));
      }
    }
    used.forget();
  }

  private void forget() {
    Arrays.fill(untouched, null);
    Arrays.fill(sparse, null);
  }

  void close() {
    reduction.close();
  }
}
