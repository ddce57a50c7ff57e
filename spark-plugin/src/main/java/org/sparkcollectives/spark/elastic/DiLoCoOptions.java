package org.sparkcollectives.spark.elastic;

/**
 * How often replicas synchronize, and what they then do with the mean of their changes; immutable.
 *
 * @param syncEvery after how many inner steps each parameter is synchronized
 * @param fragments into how many parts the parameters are divided, which are synchronized in turn,
 *     evenly spread over {@code syncEvery} steps: so much less is sent at once
 * @param learningRate of the outer step, which goes along the mean of the changes
 * @param momentum of the outer step, Nesterov's; 0 for none
 */
public record DiLoCoOptions(int syncEvery, int fragments, double learningRate, double momentum) {

  private static final double LEARNING_RATE = 0.7;
  private static final double MOMENTUM = 0.9;

  public DiLoCoOptions {
    if (syncEvery < 1 || fragments < 1 || syncEvery % fragments != 0) {
      throw new IllegalArgumentException(
          "Synchronization after "
              + syncEvery
              + " steps, in "
              + fragments
              + " fragments: both must be 1 or more, and the steps a multiple of the fragments");
    }
    if (!(learningRate > 0 && learningRate < Double.POSITIVE_INFINITY)) {
      throw new IllegalArgumentException(
          "The outer learning rate must be above 0, not " + learningRate);
    }
    if (!(momentum >= 0 && momentum < 1)) {
      throw new IllegalArgumentException(
          "The outer momentum must be from 0 to below 1, not " + momentum);
    }
  }

  /**
   * Returns DiLoCo's options: an outer step with a learning rate of 0.7 and Nesterov's momentum of
   * 0.9, after {@code syncEvery} inner steps.
   */
  public static DiLoCoOptions of(int syncEvery) {
    return new DiLoCoOptions(syncEvery, 1, LEARNING_RATE, MOMENTUM);
  }

  /** Returns those of local SGD: after {@code syncEvery} inner steps all take the mean. */
  public static DiLoCoOptions localSgd(int syncEvery) {
    return new DiLoCoOptions(syncEvery, 1, 1, 0);
  }

  /** Returns these options with another number of fragments. */
  public DiLoCoOptions withFragments(int parts) {
    return new DiLoCoOptions(syncEvery, parts, learningRate, momentum);
  }

  /** Returns these options with another learning rate of the outer step. */
  public DiLoCoOptions withLearningRate(double rate) {
    return new DiLoCoOptions(syncEvery, fragments, rate, momentum);
  }

  /** Returns these options with another momentum of the outer step. */
  public DiLoCoOptions withMomentum(double share) {
    return new DiLoCoOptions(syncEvery, fragments, learningRate, share);
  }
}
