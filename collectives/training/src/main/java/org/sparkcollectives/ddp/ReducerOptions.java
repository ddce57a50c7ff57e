package org.sparkcollectives.ddp;

import java.io.Serializable;
import java.util.Arrays;
import java.util.Objects;
import java.util.function.IntConsumer;

/**
 * The options of a {@link GradientReducer}. Immutable; each {@code with} method returns a changed
 * copy. All ranks give the same, except for {@link #withRelocation}.
 *
 * <p>The defaults are those of PyTorch's {@code DistributedDataParallel}: a first bucket of 1 MiB,
 * others of 25 MiB, every parameter expected in every step, buckets rebuilt once.
 */
public final class ReducerOptions implements Serializable {

  private static final long serialVersionUID = 1;

  private static final long MEBIBYTE = 1L << 20;
  private static final ReducerOptions DEFAULTS = new ReducerOptions(new Choices());

  private static final class Choices implements Cloneable, Serializable {
    private static final long serialVersionUID = 1;

    private long firstBucketBytes = MEBIBYTE;
    private long[] bucketBytes = {25 * MEBIBYTE};
    private boolean smallLastBucket;
    private boolean findUnused;
    private boolean staticGraph;
    private boolean gradientAsBucketView;
    private boolean rebuild = true;
    private int[] readyOrder = {};
    private int statisticsEvery = 100;
    private boolean weightedMean;
    private transient IntConsumer relocation = parameter -> {};

    Choices copy() {
      try {
        return (Choices) clone();
      } catch (CloneNotSupportedException e) {
        throw new AssertionError(e);
      }
    }
  }

  private final Choices choices;

  private ReducerOptions(Choices choices) {
    this.choices = choices;
  }

  private interface Change {
    void make(Choices choices);
  }

  private ReducerOptions with(Change change) {
    Choices copy = choices.copy();
    change.make(copy);
    return new ReducerOptions(copy);
  }

  /** Returns the defaults. */
  public static ReducerOptions defaults() {
    return DEFAULTS;
  }

  /**
   * Returns these options with the limit of the first bucket of each type, in bytes: 1 MiB by
   * default, so that the first all-reduce begins early.
   *
   * @throws IllegalArgumentException if it is less than 1
   */
  public ReducerOptions withFirstBucketBytes(long bytes) {
    requirePositive(bytes);
    return with(copy -> copy.firstBucketBytes = bytes);
  }

  /**
   * Returns these options with the limits of buckets, in bytes. One limit counts for all buckets,
   * the first included, as DDP's {@code bucket_cap_mb}. Several count for the buckets in their
   * order, the last one for all further ones, and from the first step on, as {@code
   * bucket_cap_mb_list}.
   *
   * @throws IllegalArgumentException if there is none, or one is less than 1
   */
  public ReducerOptions withBucketBytes(long... bytes) {
    if (bytes.length == 0) {
      throw new IllegalArgumentException("Buckets need at least one limit in bytes");
    }
    Arrays.stream(bytes).forEach(ReducerOptions::requirePositive);
    long[] limits = bytes.clone();
    return with(
        copy -> {
          copy.firstBucketBytes = limits[0];
          copy.bucketBytes = limits;
        });
  }

  private static void requirePositive(long bytes) {
    if (bytes < 1) {
      throw new IllegalArgumentException(
          "The limit of a bucket must be 1 byte or more, not " + bytes);
    }
  }

  /**
   * Returns these options with the small bucket as the last one instead of the first, as with
   * c10d's {@code DDP_SET_LAST_BUCKET_CAP}: then little is left to wait for after the backward
   * pass. Applies to buckets in an order of readiness, and not to those before they are rebuilt.
   */
  public ReducerOptions withSmallLastBucket(boolean last) {
    return with(copy -> copy.smallLastBucket = last);
  }

  /**
   * Returns these options with or without steps in which some parameters get no gradient. The set
   * may differ by rank and by step. It costs one small all-reduce a step. Buckets are not rebuilt
   * then.
   */
  public ReducerOptions withFindUnused(boolean find) {
    return with(copy -> copy.findUnused = find);
  }

  /**
   * Returns these options with a set of used parameters that each rank finds in its first step and
   * that never changes afterwards. Unlike {@link #withFindUnused}, it costs nothing in later steps.
   */
  public ReducerOptions withStaticGraph(boolean still) {
    return with(copy -> copy.staticGraph = still);
  }

  /**
   * Returns these options with all gradients as views of their buckets, which saves two copies of
   * all gradients a step. Gradients that a {@link Parameter} brings are then only read at the
   * beginning: the engine must add to {@link GradientReducer#gradient}, see {@link
   * #withRelocation}.
   */
  public ReducerOptions withGradientAsBucketView(boolean view) {
    return with(copy -> copy.gradientAsBucketView = view);
  }

  /**
   * Returns these options with or without new buckets after the first step. Without, the buckets
   * follow the positions of the parameters, the last first, from the first step on.
   */
  public ReducerOptions withRebuild(boolean rebuild) {
    return with(copy -> copy.rebuild = rebuild);
  }

  /**
   * Returns these options with the order in which parameters become ready, known beforehand. The
   * buckets follow it from the first step on and are never rebuilt. So neither the buckets nor the
   * bits of the result depend on timing.
   *
   * @param parameters the position of each parameter, once; none for no order
   */
  public ReducerOptions withReadyOrder(int... parameters) {
    int[] order = parameters.clone();
    return with(copy -> copy.readyOrder = order);
  }

  /**
   * Returns these options with how often statistics are taken after the first ten steps: each 100th
   * step by default.
   *
   * @throws IllegalArgumentException if it is less than 1
   */
  public ReducerOptions withStatisticsEvery(int steps) {
    if (steps < 1) {
      throw new IllegalArgumentException(
          "Statistics are taken every 1 step or more, not every " + steps);
    }
    return with(copy -> copy.statisticsEvery = steps);
  }

  /**
   * Returns these options with a mean over rows instead of over ranks: each rank says by {@link
   * GradientReducer#setWeight} how many rows each step has. c10d has nothing like it. It costs one
   * all-reduce of 24 bytes a step.
   */
  public ReducerOptions withWeightedMean(boolean weighted) {
    return with(copy -> copy.weightedMean = weighted);
  }

  /**
   * Returns these options with a function that is called when the {@link GradientReducer#gradient}
   * of a parameter has moved to other memory. It gets the position of the parameter, on the thread
   * that calls {@link GradientReducer#beginForward} or {@link GradientReducer#setProcessGroup}. It
   * is not serialised.
   */
  public ReducerOptions withRelocation(IntConsumer moved) {
    Objects.requireNonNull(moved, "moved");
    return with(copy -> copy.relocation = moved);
  }

  /** Returns the limit of the first bucket, see {@link #withFirstBucketBytes}. */
  public long firstBucketBytes() {
    return choices.firstBucketBytes;
  }

  /** Returns the limits of buckets, see {@link #withBucketBytes}. A copy. */
  public long[] bucketBytes() {
    return choices.bucketBytes.clone();
  }

  /** Returns whether the small bucket is the last, see {@link #withSmallLastBucket}. */
  public boolean smallLastBucket() {
    return choices.smallLastBucket;
  }

  /** Returns whether parameters may be unused, see {@link #withFindUnused}. */
  public boolean findUnused() {
    return choices.findUnused;
  }

  /** Returns whether the used parameters never change, see {@link #withStaticGraph}. */
  public boolean staticGraph() {
    return choices.staticGraph;
  }

  /** Returns whether gradients are views, see {@link #withGradientAsBucketView}. */
  public boolean gradientAsBucketView() {
    return choices.gradientAsBucketView;
  }

  /** Returns whether buckets are rebuilt, see {@link #withRebuild}. */
  public boolean rebuild() {
    return choices.rebuild;
  }

  /** Returns the order that is known beforehand, see {@link #withReadyOrder}. A copy. */
  public int[] readyOrder() {
    return choices.readyOrder.clone();
  }

  /** Returns how often statistics are taken, see {@link #withStatisticsEvery}. */
  public int statisticsEvery() {
    return choices.statisticsEvery;
  }

  /** Returns whether the mean is over rows, see {@link #withWeightedMean}. */
  public boolean weightedMean() {
    return choices.weightedMean;
  }

  /** Returns the listener for gradients that move, see {@link #withRelocation}. */
  IntConsumer relocation() {
    return choices.relocation == null ? parameter -> {} : choices.relocation;
  }

  /** Returns the options on which all ranks must agree, as text. */
  @Override
  public String toString() {
    return "first bucket "
        + choices.firstBucketBytes
        + " bytes, buckets "
        + Arrays.toString(choices.bucketBytes)
        + " bytes, small last bucket "
        + choices.smallLastBucket
        + ", find unused "
        + choices.findUnused
        + ", static graph "
        + choices.staticGraph
        + ", views "
        + choices.gradientAsBucketView
        + ", rebuild "
        + choices.rebuild
        + ", ready order "
        + Arrays.toString(choices.readyOrder)
        + ", weighted mean "
        + choices.weightedMean;
  }
}
