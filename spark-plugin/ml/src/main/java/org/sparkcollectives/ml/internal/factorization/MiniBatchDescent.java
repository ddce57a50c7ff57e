package org.sparkcollectives.ml.internal.factorization;

import java.io.Serializable;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import org.apache.spark.TaskContext;
import org.apache.spark.ml.regression.BaseFactorizationMachinesGradient;
import org.apache.spark.ml.regression.FactorizationMachines$;
import org.apache.spark.ml.regression.FactorizationMachinesParams;
import org.apache.spark.mllib.linalg.Vector;
import org.apache.spark.mllib.linalg.Vectors;
import org.apache.spark.util.random.BernoulliSampler;
import scala.reflect.ClassTag$;

/**
 * Spark's gradient descent over mini-batches: each rank draws rows and adds up their gradients, and
 * rank 0 takes a step of the sum. With the same partitions it draws the rows that Spark draws.
 *
 * @param loss Spark's name of the loss
 * @param solver Spark's name of the rule by which a step is taken
 */
record MiniBatchDescent(
    String loss, String solver, Machine machine, double fraction, double stepSize, Limits limits)
    implements Serializable {

  /** Spark's seed for the rows of the iteration 0. */
  private static final long SEED = 42;

  /** The loss of an iteration that drew no row; a loss itself is never negative. */
  private static final double NO_ROWS = Double.NEGATIVE_INFINITY;

  /** What the coefficients mean. */
  record Machine(int factors, boolean intercept, boolean linear, int features)
      implements Serializable {}

  /**
   * The penalty on the coefficients, and when the descent ends.
   *
   * @param tolerance the change of the coefficients, relative to them, at which it ends
   * @param steps how many there are at the most
   */
  record Limits(double regParam, double tolerance, int steps) implements Serializable {}

  static MiniBatchDescent of(FactorizationMachinesParams params, int features, String loss) {
    return new MiniBatchDescent(
        loss,
        params.getSolver(),
        new Machine(
            params.getFactorSize(), params.getFitIntercept(), params.getFitLinear(), features),
        params.getMiniBatchFraction(),
        params.getStepSize(),
        new Limits(params.getRegParam(), params.getTol(), params.getMaxIter()));
  }

  /** Returns how many iterations there are: as in Spark, the last has a loss and no step. */
  int iterations() {
    return limits.steps() + 1;
  }

  DescentState first(double[] coefficients) {
    return DescentState.first(coefficients, solver, limits.regParam());
  }

  private int size() {
    int features = machine.features();
    return features * machine.factors()
        + (machine.linear() ? features : 0)
        + (machine.intercept() ? 1 : 0);
  }

  DescentState state(double[] numbers) {
    return DescentState.of(numbers, size());
  }

  /**
   * Returns the sum of the gradients of a rank's rows, then that of their losses, their number, and
   * how many rows the rank has.
   */
  double[] gradient(double[] numbers, List<LabeledRow> rows, int iteration) {
    int size = size();
    BaseFactorizationMachinesGradient gradient =
        FactorizationMachines$.MODULE$.parseLoss(
            loss, machine.factors(), machine.intercept(), machine.linear(), machine.features());
    Vector coefficients = Vectors.dense(state(numbers).coefficients());
    double[] sums = new double[size];
    Vector gradientSum = Vectors.dense(sums);
    BernoulliSampler<Object> sampler = sampler(iteration);
    double lossSum = 0;
    long count = 0;
    for (LabeledRow row : rows) {
      if (sampler.sample() > 0) {
        lossSum += gradient.compute(row.features(), row.label(), coefficients, gradientSum);
        count++;
      }
    }
    double[] all = Arrays.copyOf(sums, size + 3);
    all[size] = lossSum;
    all[size + 1] = count;
    all[size + 2] = rows.size();
    return all;
  }

  /** Returns what draws the rows of this rank, as {@code RDD.sample} does it in its partition. */
  private BernoulliSampler<Object> sampler(int iteration) {
    Random seeds = new Random(SEED + iteration);
    long seed = seeds.nextLong();
    for (int partition = TaskContext.getPartitionId(); partition > 0; partition--) {
      seed = seeds.nextLong();
    }
    BernoulliSampler<Object> sampler =
        new BernoulliSampler<>(fraction, ClassTag$.MODULE$.apply(LabeledRow.class));
    sampler.setSeed(seed);
    return sampler;
  }

  double[] step(double[] numbers, double[] sums, int iteration) {
    int size = size();
    double count = sums[size + 1];
    DescentState state = state(numbers).withRows(sums[size + 2]);
    if (count == 0 || iteration > limits.steps()) {
      return state.numbers();
    }
    double[] mean = new double[size];
    for (int i = 0; i < size; i++) {
      mean[i] = sums[i] / count;
    }
    return state.updated(mean, solver, stepSize, iteration, limits.regParam()).numbers();
  }

  double loss(double[] numbers, double[] sums) {
    int size = size();
    double count = sums[size + 1];
    return count == 0 ? NO_ROWS : sums[size] / count + state(numbers).penalty();
  }

  /** Returns the losses of the iterations that drew rows, as Spark reports them. */
  static double[] reported(double[] losses) {
    return Arrays.stream(losses).filter(loss -> loss != NO_ROWS).toArray();
  }

  /**
   * Returns what Spark's descent says in the log of such a one.
   *
   * @param rows how many all ranks have
   * @param losses of all iterations
   */
  List<String> warnings(double rows, double[] losses) {
    List<String> warnings = new ArrayList<>();
    if (fraction < 1 && limits.tolerance() > 0) {
      warnings.add(
          "Testing against a convergenceTol when using miniBatchFraction < 1.0 can be unstable"
              + " because of the stochasticity in sampling.");
    }
    if (limits.steps() * fraction < 1) {
      warnings.add(
          "Not all examples will be used if numIterations * miniBatchFraction < 1.0: numIterations="
              + limits.steps()
              + " and miniBatchFraction="
              + fraction);
    }
    if (rows * fraction < 1) {
      warnings.add("The miniBatchFraction is too small");
    }
    for (int i = 0; i < losses.length; i++) {
      if (losses[i] == NO_ROWS) {
        warnings.add(
            "Iteration ("
                + (i + 1)
                + "/"
                + limits.steps()
                + "). The size of sampled batch is zero");
      }
    }
    return warnings;
  }

  /** Returns whether a step was small; the first step never is, as in Spark. */
  boolean isConverged(double[] before, double[] after) {
    DescentState last = state(before);
    DescentState next = state(after);
    if (next.updates() == last.updates() || next.updates() < 2) {
      return false;
    }
    double change = 0;
    double norm = 0;
    for (int i = 0; i < size(); i++) {
      double difference = before[i] - after[i];
      change += difference * difference;
      norm += after[i] * after[i];
    }
    return Math.sqrt(change) < limits.tolerance() * Math.max(Math.sqrt(norm), 1);
  }
}
