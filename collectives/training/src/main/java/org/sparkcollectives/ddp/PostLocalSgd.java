package org.sparkcollectives.ddp;

import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import org.sparkcollectives.ProcessGroup;
import org.sparkcollectives.Tensor;

/**
 * Averages gradients over all ranks for some steps, and then over a part of them or not at all:
 * c10d's {@code post_localSGD_hook}, after Lin, Stich, Patel and Jaggi, "Don't use large
 * mini-batches, use local SGD" (2018).
 *
 * <p>After {@code start} steps the models of different subgroups move apart, and the program
 * averages the models themselves from time to time. Until the last average of models, they differ.
 *
 * <p>A hook belongs to one reducer; its methods may be called by any thread.
 */
public final class PostLocalSgd implements CommHook {

  private final ProcessGroup subgroup;
  private final long start;
  private final boolean postLocalGradientAllReduce;
  private ProcessGroup agreed;
  private long step;

  /**
   * Creates the hook of one reducer.
   *
   * @param subgroup the ranks over which gradients are averaged from the step {@code start} on,
   *     such as those of {@link ProcessGroup#newLocalGroup()}, c10d's default; this hook alone uses
   *     it. It is not closed here. May be null if nothing is averaged then
   * @param start the number of steps in which gradients are averaged over all ranks
   * @param postLocalGradientAllReduce whether gradients are averaged in the subgroup afterwards;
   *     else each rank keeps its own
   * @throws IllegalArgumentException if {@code start} is negative
   * @throws NullPointerException if there is no subgroup to average in
   */
  public PostLocalSgd(ProcessGroup subgroup, long start, boolean postLocalGradientAllReduce) {
    if (start < 0) {
      throw new IllegalArgumentException(
          "The number of steps that average over all ranks is at least 0, not " + start);
    }
    if (subgroup == null && postLocalGradientAllReduce) {
      throw new NullPointerException(
          "Without a subgroup, gradients cannot be averaged in it: give"
              + " postLocalGradientAllReduce = false, or ProcessGroup.newLocalGroup()");
    }
    this.subgroup = subgroup;
    this.start = start;
    this.postLocalGradientAllReduce = postLocalGradientAllReduce;
  }

  /**
   * Begins the average. In the first step of a group the ranks compare their settings, and wait for
   * each other for the group's timeout at most.
   *
   * @throws IllegalArgumentException on all ranks, if they have other settings, or are at other
   *     steps; or if a rank of a subgroup is not in the reducer's group
   */
  @Override
  public synchronized CompletableFuture<Tensor> run(GradientBucket bucket) {
    agree(bucket.group());
    boolean local = step >= start;
    if (bucket.isLast()) {
      step++;
    }
    if (!local) {
      return MeanAllReduce.of(bucket).begin(bucket.buffer());
    }
    if (!postLocalGradientAllReduce) {
      return CompletableFuture.completedFuture(bucket.buffer());
    }
    return new MeanAllReduce(subgroup, divisor(bucket)).begin(bucket.buffer());
  }

  /** In a join or with weights this is what the subgroup has of the divisor on average. */
  private double divisor(GradientBucket bucket) {
    int ranks = bucket.group().size();
    return bucket.divisor() == ranks ? subgroup.size() : bucket.divisor() * subgroup.size() / ranks;
  }

  /** Compares the settings with the other ranks, once for each group. */
  private void agree(ProcessGroup group) {
    if (group.equals(agreed)) {
      return;
    }
    step =
        HookStart.agree(
            group,
            "PostLocalSgd",
            () -> settings(group),
            agreed == null,
            Map.of("number of steps", step))[0];
    agreed = group;
  }

  private List<String> settings(ProcessGroup group) {
    if (postLocalGradientAllReduce) {
      requireMembers(group);
    }
    return List.of("start " + start, "postLocalGradientAllReduce " + postLocalGradientAllReduce);
  }

  private void requireMembers(ProcessGroup group) {
    int[] members = subgroup.globalRanks();
    int[] all = group.globalRanks();
    if (Arrays.stream(members).anyMatch(each -> Arrays.stream(all).noneMatch(any -> any == each))) {
      throw new IllegalArgumentException(
          "The subgroup of PostLocalSgd has the global ranks "
              + Arrays.toString(members)
              + ", which are not all in the reducer's group, "
              + Arrays.toString(all));
    }
  }

  /** Returns the number of steps so far. */
  public synchronized long step() {
    return step;
  }

  /** Sets the number of steps so far, on all ranks alike, when training goes on after a restart. */
  public synchronized void setStep(long value) {
    if (value < 0) {
      throw new IllegalArgumentException("The number of steps is at least 0, not " + value);
    }
    step = value;
  }
}
