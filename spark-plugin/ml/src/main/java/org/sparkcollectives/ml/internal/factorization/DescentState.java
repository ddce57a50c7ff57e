package org.sparkcollectives.ml.internal.factorization;

import breeze.linalg.DenseVector;
import java.util.Arrays;
import org.apache.spark.ml.regression.AdamWUpdater;
import org.apache.spark.ml.regression.FactorizationMachines$;
import org.apache.spark.mllib.linalg.Vector;
import org.apache.spark.mllib.linalg.Vectors;
import org.apache.spark.mllib.optimization.Updater;

/**
 * What an iteration leaves to the next, as an array of numbers that the ranks broadcast and the
 * driver keeps: the coefficients; the penalty on them; how often they were updated; how many rows
 * there are; and, of AdamW, its two moments and the two powers of its rates.
 */
final class DescentState {

  private static final int BESIDE_COEFFICIENTS = 3;
  private static final int POWERS = 2;

  private final double[] numbers;
  private final int size;
  private final boolean adam;

  private DescentState(double[] numbers, int size, boolean adam) {
    this.numbers = numbers;
    this.size = size;
    this.adam = adam;
  }

  /** Returns the state before the first iteration. */
  static DescentState first(double[] coefficients, String solver, double regParam) {
    boolean adam = solver.equals(FactorizationMachines$.MODULE$.AdamW());
    int size = coefficients.length;
    long length = size + BESIDE_COEFFICIENTS + (adam ? 2L * size + POWERS : 0);
    DescentState state = new DescentState(new double[Math.toIntExact(length)], size, adam);
    System.arraycopy(coefficients, 0, state.numbers, 0, size);
    Updater updater = FactorizationMachines$.MODULE$.parseSolver(solver, size);
    // A step of no size: Spark learns the first penalty in this way.
    Vector zeros = Vectors.dense(new double[size]);
    state.numbers[size] =
        (Double) updater.compute(Vectors.dense(coefficients), zeros, 0, 1, regParam)._2();
    state.keep(updater);
    return state;
  }

  /** Returns the state that {@code numbers} hold; they are not copied. */
  static DescentState of(double[] numbers, int size) {
    return new DescentState(numbers, size, numbers.length > size + BESIDE_COEFFICIENTS);
  }

  double[] numbers() {
    return numbers;
  }

  double[] coefficients() {
    return Arrays.copyOf(numbers, size);
  }

  double penalty() {
    return numbers[size];
  }

  double updates() {
    return numbers[size + 1];
  }

  /** Returns how many rows all ranks have; 0 before the first iteration. */
  double rows() {
    return numbers[size + 2];
  }

  /** Returns this state with the number of rows; this one is not changed. */
  DescentState withRows(double rows) {
    DescentState next = new DescentState(numbers.clone(), size, adam);
    next.numbers[size + 2] = rows;
    return next;
  }

  /** Returns the state after an update by Spark's own updater; this one is not changed. */
  DescentState updated(
      double[] gradient, String solver, double stepSize, int iteration, double regParam) {
    Updater updater = updater(solver);
    var result =
        updater.compute(
            Vectors.dense(coefficients()), Vectors.dense(gradient), stepSize, iteration, regParam);
    DescentState next = new DescentState(new double[numbers.length], size, adam);
    System.arraycopy(result._1().toArray(), 0, next.numbers, 0, size);
    next.numbers[size] = (Double) result._2();
    next.numbers[size + 1] = updates() + 1;
    next.numbers[size + 2] = rows();
    next.keep(updater);
    return next;
  }

  private Updater updater(String solver) {
    Updater updater = FactorizationMachines$.MODULE$.parseSolver(solver, size);
    if (updater instanceof AdamWUpdater moments) {
      System.arraycopy(numbers, firstMoment(), values(moments.m()), 0, size);
      System.arraycopy(numbers, firstMoment() + size, values(moments.v()), 0, size);
      moments.beta1T_$eq(numbers[numbers.length - 2]);
      moments.beta2T_$eq(numbers[numbers.length - 1]);
    }
    return updater;
  }

  private void keep(Updater updater) {
    if (updater instanceof AdamWUpdater moments) {
      System.arraycopy(values(moments.m()), 0, numbers, firstMoment(), size);
      System.arraycopy(values(moments.v()), 0, numbers, firstMoment() + size, size);
      numbers[numbers.length - 2] = moments.beta1T();
      numbers[numbers.length - 1] = moments.beta2T();
    }
  }

  private int firstMoment() {
    return size + BESIDE_COEFFICIENTS;
  }

  private static double[] values(breeze.linalg.Vector<Object> vector) {
    return (double[]) ((DenseVector<?>) vector).data();
  }
}
