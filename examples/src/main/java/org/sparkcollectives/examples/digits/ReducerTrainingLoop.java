package org.sparkcollectives.examples.digits;

import java.util.Arrays;
import java.util.List;
import java.util.stream.IntStream;
import org.sparkcollectives.ProcessGroup;
import org.sparkcollectives.ReduceOp;
import org.sparkcollectives.Tensor;
import org.sparkcollectives.ddp.GradientReducer;
import org.sparkcollectives.ddp.ModelState;
import org.sparkcollectives.ddp.Parameter;
import org.sparkcollectives.ddp.ReducerOptions;

/**
 * The training of {@link TrainingLoop} with the reducer of gradients, as one rank of a group runs
 * it: each step takes the mean gradient over the rows of all ranks, however many each has.
 */
final class ReducerTrainingLoop {

  private final ProcessGroup world;
  private final TrainingOptions options;
  private final double[] values;
  private final double[] gradients;
  private final double[] velocity;
  private final Network network;

  ReducerTrainingLoop(ProcessGroup world, TrainingOptions options) {
    this.world = world;
    this.options = options;
    this.values = options.network().randomParameters(options.seed() + world.rank());
    this.gradients = new double[values.length];
    this.velocity = new double[values.length];
    this.network = new Network(options.network(), values);
  }

  /** Trains. All ranks call this, each with its own samples; some may have none. */
  TrainedModel run(List<Sample> own, TrainingLoop.EpochListener listener) {
    ModelState.broadcast(world, List.of(Tensor.of(values)), 0);
    Batches batches = new Batches(world, options, own);
    StepTimes times = new StepTimes(options.epochs() * batches.count());
    double[] losses = new double[options.epochs()];
    double[] accuracies = new double[options.epochs()];
    ReducerOptions weighted = ReducerOptions.defaults().withWeightedMean(true);
    try (GradientReducer reducer = GradientReducer.create(world, layers(), weighted)) {
      options.hook().create().ifPresent(reducer::setCommHook);
      for (int epoch = 1; epoch <= options.epochs(); epoch++) {
        double[] sums = {0, own.size()};
        for (List<Sample> batch : batches.nextEpoch()) {
          times.begin();
          reducer.setWeight(batch.size());
          double loss = backward(batch);
          times.beginReduction();
          reducer.reduce();
          times.endReduction();
          descend();
          times.end();
          sums[0] += loss;
        }
        world.allReduce(Tensor.of(sums), ReduceOp.SUM).await();
        losses[epoch - 1] = sums[0] / sums[1];
        accuracies[epoch - 1] = listener.ended(epoch, losses[epoch - 1], network);
      }
    }
    return new TrainedModel(
        values,
        losses,
        accuracies,
        times.medianMillis(),
        times.medianReductionMillis(),
        times.count(),
        0);
  }

  /** Returns each layer as a parameter, whose value and gradient are parts of the arrays. */
  private List<Parameter> layers() {
    int last = options.network().lastLayer();
    Tensor value = Tensor.of(values);
    Tensor gradient = Tensor.of(gradients);
    return IntStream.of(0, last)
        .distinct()
        .mapToObj(
            begin -> {
              int count = (begin < last ? last : values.length) - begin;
              return new Parameter(
                  begin < last ? "hidden" : "output",
                  value.slice(begin, count),
                  gradient.slice(begin, count),
                  false);
            })
        .toList();
  }

  /**
   * Sets the gradients to those of the mean loss of some samples, and returns their summed loss.
   */
  private double backward(List<Sample> batch) {
    Arrays.fill(gradients, 0);
    double loss = 0;
    for (Sample sample : batch) {
      loss += network.addGradient(sample, gradients);
    }
    for (int i = 0; i < gradients.length; i++) {
      gradients[i] /= Math.max(1, batch.size());
    }
    return loss;
  }

  private void descend() {
    for (int i = 0; i < values.length; i++) {
      velocity[i] = options.momentum() * velocity[i] - options.learningRate() * gradients[i];
      values[i] += velocity[i];
    }
  }
}
