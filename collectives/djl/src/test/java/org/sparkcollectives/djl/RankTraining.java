package org.sparkcollectives.djl;

import ai.djl.Model;
import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDList;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.types.Shape;
import ai.djl.training.DefaultTrainingConfig;
import ai.djl.training.GradientCollector;
import ai.djl.training.Trainer;
import ai.djl.training.TrainingConfig;
import ai.djl.training.dataset.ArrayDataset;
import ai.djl.training.loss.Loss;
import ai.djl.training.optimizer.Optimizer;
import ai.djl.training.tracker.Tracker;
import java.util.Arrays;

/** Trains a small model on some of the rows of a fixed set. */
final class RankTraining {

  /** All rows, of which the ranks have some. */
  static final int ROWS = 48;

  private RankTraining() {}

  static Optimizer sgd() {
    return Optimizer.sgd().setLearningRateTracker(Tracker.fixed(0.2f)).optMomentum(0.9f).build();
  }

  static Optimizer adam() {
    return Optimizer.adam().optLearningRateTracker(Tracker.fixed(0.05f)).build();
  }

  static DefaultTrainingConfig config(Optimizer optimizer) {
    return new DefaultTrainingConfig(Loss.softmaxCrossEntropyLoss()).optOptimizer(optimizer);
  }

  /** Returns a trainer of one rank of this JVM, whose collector is its own. */
  static Trainer trainer(Model model, TrainingConfig config) {
    return new Trainer(model, config) {
      @Override
      public GradientCollector newGradientCollector() {
        return RankGradients.open(model.getBlock());
      }
    };
  }

  /** Returns the features and classes of rows, given by their numbers. */
  static NDList rows(NDManager manager, int... numbers) {
    NDArray all = Models.rows(manager, 99, ROWS);
    float[] values = all.toFloatArray();
    float[] features = new float[numbers.length * Models.FEATURES];
    float[] classes = new float[numbers.length];
    for (int i = 0; i < numbers.length; i++) {
      System.arraycopy(
          values, numbers[i] * Models.FEATURES, features, i * Models.FEATURES, Models.FEATURES);
      classes[i] = values[numbers[i] * Models.FEATURES] > 0 ? numbers[i] % 2 : 2;
    }
    return new NDList(
        manager.create(features, new Shape(numbers.length, Models.FEATURES)),
        manager.create(classes, new Shape(numbers.length, 1)));
  }

  /** Returns a data set of these rows, in this order. */
  static ArrayDataset dataset(NDManager manager, int batch, int... numbers) {
    NDList rows = rows(manager, numbers);
    return new ArrayDataset.Builder()
        .setData(rows.get(0))
        .optLabels(rows.get(1))
        .setSampling(batch, false)
        .build();
  }

  /** Computes the gradients of the mean loss of some rows. */
  static void backward(Trainer trainer, int... numbers) {
    try (NDManager manager = trainer.getManager().newSubManager();
        GradientCollector collector = trainer.newGradientCollector()) {
      NDList rows = rows(manager, numbers);
      NDList out = trainer.forward(new NDList(rows.get(0)));
      collector.backward(trainer.getLoss().evaluate(new NDList(rows.get(1)), out));
    }
  }

  /** Returns the rows that a rank has, of those from {@code first} on. */
  static int[] share(int first, int count, int rank, int ranks) {
    return java.util.stream.IntStream.range(first, first + count)
        .filter(row -> row % ranks == rank)
        .toArray();
  }

  static int[] range(int first, int count) {
    int[] rows = new int[count];
    Arrays.setAll(rows, i -> first + i);
    return rows;
  }
}
