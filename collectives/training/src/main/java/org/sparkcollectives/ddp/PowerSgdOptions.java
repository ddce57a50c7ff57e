package org.sparkcollectives.ddp;

import java.io.Serializable;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * The options of {@link PowerSgd}; immutable. Each {@code with} method returns a changed copy. All
 * ranks give the same. The names in c10d's {@code PowerSGDState} are given in parentheses.
 */
public final class PowerSgdOptions implements Serializable {

  private static final long serialVersionUID = 1;

  private static final PowerSgdOptions DEFAULTS = new PowerSgdOptions(new Choices()).checked();

  /** The chosen options; a copy is changed once, before any other thread sees it. */
  private static final class Choices implements Cloneable, Serializable {
    private static final long serialVersionUID = 1;

    private int rank = 1;
    private long start = 1000;
    private double minCompressionRate = 2;
    private boolean errorFeedback = true;
    private boolean warmStart = true;
    private double epsilon;
    private long seed;
    private boolean batched;

    Choices copy() {
      try {
        return (Choices) clone();
      } catch (CloneNotSupportedException e) {
        throw new AssertionError(e);
      }
    }
  }

  private interface Change {
    void make(Choices choices);
  }

  private final Choices choices;

  private PowerSgdOptions(Choices choices) {
    this.choices = choices;
  }

  private PowerSgdOptions with(Change change) {
    Choices copy = choices.copy();
    change.make(copy);
    return new PowerSgdOptions(copy).checked();
  }

  private PowerSgdOptions checked() {
    require(choices.rank >= 1, "The rank of the approximation is at least 1", choices.rank);
    require(choices.start >= 0, "The first compressed step is at least 0", choices.start);
    require(
        choices.minCompressionRate > 0 && choices.minCompressionRate < Double.POSITIVE_INFINITY,
        "The smallest compression rate is more than 0 and finite",
        choices.minCompressionRate);
    require(
        choices.epsilon >= 0 && choices.epsilon < Double.POSITIVE_INFINITY,
        "Epsilon is at least 0 and finite",
        choices.epsilon);
    require(
        choices.start > 1 || !(choices.errorFeedback || choices.warmStart),
        "With error feedback or a warm start, the first compressed step is at least 2, because the"
            + " reducer moves gradients between buckets after its first step: give withStart(2) or"
            + " more, or switch both off before",
        choices.start);
    return this;
  }

  private static void require(boolean right, String rule, Object given) {
    if (!right) {
      throw new IllegalArgumentException(rule + ", not " + given);
    }
  }

  /**
   * Returns the defaults, those of c10d: rank 1, from step 1000 on, matrices that become at least
   * half as large, error feedback, warm start, epsilon 0, seed 0, matrix by matrix.
   */
  public static PowerSgdOptions defaults() {
    return DEFAULTS;
  }

  /**
   * Returns these options with the rank of the approximation, at least 1 ({@code
   * matrix_approximation_rank}). Twice the rank sends twice as much, and is closer.
   */
  public PowerSgdOptions withRank(int value) {
    return with(copy -> copy.rank = value);
  }

  /**
   * Returns these options with the first step that is compressed, counted from 0 ({@code
   * start_powerSGD_iter}). Those before are plain means, because early gradients compress badly.
   *
   * @throws IllegalArgumentException if it is less than 2, with error feedback or warm start
   */
  public PowerSgdOptions withStart(long value) {
    return with(copy -> copy.start = value);
  }

  /**
   * Returns these options with how many times smaller a matrix must become, to be compressed at all
   * ({@code min_compression_rate}).
   */
  public PowerSgdOptions withMinCompressionRate(double value) {
    return with(copy -> copy.minCompressionRate = value);
  }

  /**
   * Returns these options with or without error feedback: whether each rank adds to its next
   * gradient what the approximation left out of this one ({@code use_error_feedback}). It takes as
   * much memory as the matrices in float32, and without it training may not converge.
   */
  public PowerSgdOptions withErrorFeedback(boolean value) {
    return with(copy -> copy.errorFeedback = value);
  }

  /**
   * Returns these options with or without a warm start: whether a step begins with the outcome of
   * the one before, and not with random numbers ({@code warm_start}).
   */
  public PowerSgdOptions withWarmStart(boolean value) {
    return with(copy -> copy.warmStart = value);
  }

  /**
   * Returns these options with what is added to the norm that a column is divided by ({@code
   * orthogonalization_epsilon}). It may be 0 here: a column without a norm becomes 0.
   */
  public PowerSgdOptions withEpsilon(double value) {
    return with(copy -> copy.epsilon = value);
  }

  /** Returns these options with the seed of the random numbers ({@code random_seed}). */
  public PowerSgdOptions withSeed(long value) {
    return with(copy -> copy.seed = value);
  }

  /**
   * Returns these options, with each bucket as one square matrix or with a matrix for each
   * parameter: c10d's {@code batched_powerSGD_hook}. It takes two collectives a bucket whatever is
   * in it, compresses all of it, and is less close. {@link #withMinCompressionRate} and {@link
   * #withEpsilon} then mean nothing.
   */
  public PowerSgdOptions withBatched(boolean value) {
    return with(copy -> copy.batched = value);
  }

  /** Returns the rank of the approximation. */
  public int rank() {
    return choices.rank;
  }

  /** Returns the first step that is compressed. */
  public long start() {
    return choices.start;
  }

  /** Returns how many times smaller a matrix must become. */
  public double minCompressionRate() {
    return choices.minCompressionRate;
  }

  /** Returns whether what was left out is added to the next gradient. */
  public boolean errorFeedback() {
    return choices.errorFeedback;
  }

  /** Returns whether a step begins with the outcome of the one before. */
  public boolean warmStart() {
    return choices.warmStart;
  }

  /** Returns what is added to the norm of a column. */
  public double epsilon() {
    return choices.epsilon;
  }

  /** Returns the seed of the random numbers. */
  public long seed() {
    return choices.seed;
  }

  /** Returns whether a bucket is one matrix. */
  public boolean batched() {
    return choices.batched;
  }

  /** Returns a text for each option. */
  List<String> texts() {
    return settings().entrySet().stream()
        .map(each -> each.getKey() + " " + each.getValue())
        .toList();
  }

  private Map<String, Object> settings() {
    Map<String, Object> settings = new LinkedHashMap<>();
    settings.put("rank", choices.rank);
    settings.put("start", choices.start);
    settings.put("minCompressionRate", choices.minCompressionRate);
    settings.put("errorFeedback", choices.errorFeedback);
    settings.put("warmStart", choices.warmStart);
    settings.put("epsilon", choices.epsilon);
    settings.put("seed", choices.seed);
    settings.put("batched", choices.batched);
    return settings;
  }

  @Override
  public String toString() {
    return settings().toString();
  }
}
