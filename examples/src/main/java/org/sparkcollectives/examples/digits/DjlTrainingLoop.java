package org.sparkcollectives.examples.digits;

import ai.djl.Model;
import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDList;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.types.Shape;
import ai.djl.training.DefaultTrainingConfig;
import ai.djl.training.GradientCollector;
import ai.djl.training.Trainer;
import ai.djl.training.loss.Loss;
import ai.djl.training.optimizer.Optimizer;
import ai.djl.training.tracker.Tracker;
import java.util.List;
import org.sparkcollectives.ProcessGroup;
import org.sparkcollectives.ReduceOp;
import org.sparkcollectives.Tensor;
import org.sparkcollectives.ddp.ReducerOptions;
import org.sparkcollectives.djl.CollectiveOptimizer;
import org.sparkcollectives.djl.RankGradients;

/**
 * The training of {@link TrainingLoop} with DJL, as one rank of a group runs it: DJL's trainer and
 * optimizer, with the mean gradient over the rows of all ranks.
 *
 * <p>Several ranks of one JVM each have a model and a collector of gradients.
 */
final class DjlTrainingLoop {

  private final ProcessGroup world;
  private final TrainingOptions options;

  DjlTrainingLoop(ProcessGroup world, TrainingOptions options) {
    this.world = world;
    this.options = options;
  }

  /** Trains. All ranks call this, each with its own samples; some may have none. */
  TrainedModel run(List<Sample> own, TrainingLoop.EpochListener listener) {
    try (Model model = Model.newInstance("digits", "PyTorch")) {
      DjlNetwork network =
          new DjlNetwork(
              model.getNDManager(),
              options.network(),
              options.network().randomParameters(options.seed() + world.rank()));
      model.setBlock(network.block());
      Optimizer descent =
          Optimizer.sgd()
              .setLearningRateTracker(Tracker.fixed((float) options.learningRate()))
              .optMomentum((float) options.momentum())
              .build();
      try (CollectiveOptimizer optimizer =
              CollectiveOptimizer.of(
                  world,
                  network.block(),
                  descent,
                  ReducerOptions.defaults().withWeightedMean(true));
          Trainer trainer = trainer(model, optimizer)) {
        return run(own, listener, network, optimizer, trainer);
      }
    }
  }

  private static Trainer trainer(Model model, CollectiveOptimizer optimizer) {
    return new Trainer(
        model, new DefaultTrainingConfig(Loss.softmaxCrossEntropyLoss()).optOptimizer(optimizer)) {
      @Override
      public GradientCollector newGradientCollector() {
        return RankGradients.open(model.getBlock());
      }
    };
  }

  private TrainedModel run(
      List<Sample> own,
      TrainingLoop.EpochListener listener,
      DjlNetwork network,
      CollectiveOptimizer optimizer,
      Trainer trainer) {
    Batches batches = new Batches(world, options, own);
    StepTimes times = new StepTimes(options.epochs() * batches.count());
    double[] losses = new double[options.epochs()];
    double[] accuracies = new double[options.epochs()];
    for (int epoch = 1; epoch <= options.epochs(); epoch++) {
      double[] sums = {0, own.size()};
      for (List<Sample> rows : batches.nextEpoch()) {
        times.begin();
        if (!rows.isEmpty()) {
          sums[0] += backward(trainer, rows) * rows.size();
        }
        times.beginReduction();
        if (rows.isEmpty()) {
          optimizer.stepWithoutRows();
        } else {
          optimizer.setWeight(rows.size());
          trainer.step();
        }
        times.endReduction();
        times.end();
      }
      world.allReduce(Tensor.of(sums), ReduceOp.SUM).await();
      losses[epoch - 1] = sums[0] / sums[1];
      accuracies[epoch - 1] =
          listener.ended(
              epoch, losses[epoch - 1], new Network(options.network(), network.parameters()));
    }
    return new TrainedModel(
        network.parameters(),
        losses,
        accuracies,
        times.medianMillis(),
        times.medianReductionMillis(),
        times.count(),
        0);
  }

  /** Adds the gradients of the mean loss of some samples, and returns that loss. */
  private double backward(Trainer trainer, List<Sample> rows) {
    int inputs = options.network().inputs();
    float[] features = new float[rows.size() * inputs];
    float[] labels = new float[rows.size()];
    for (int row = 0; row < labels.length; row++) {
      for (int i = 0; i < inputs; i++) {
        features[row * inputs + i] = (float) rows.get(row).features()[i];
      }
      labels[row] = rows.get(row).label();
    }
    try (NDManager scope = trainer.getManager().newSubManager();
        GradientCollector collector = trainer.newGradientCollector()) {
      NDList outputs =
          trainer.forward(new NDList(scope.create(features, new Shape(labels.length, inputs))));
      NDArray loss =
          trainer
              .getLoss()
              .evaluate(new NDList(scope.create(labels, new Shape(labels.length, 1))), outputs);
      collector.backward(loss);
      return loss.getFloat();
    }
  }
}
