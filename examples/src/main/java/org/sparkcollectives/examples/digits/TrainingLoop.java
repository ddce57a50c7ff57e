package org.sparkcollectives.examples.digits;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import org.sparkcollectives.Device;
import org.sparkcollectives.ProcessGroup;
import org.sparkcollectives.ReduceOp;
import org.sparkcollectives.Tensor;

/**
 * Stochastic gradient descent with momentum, as one rank of a group runs it: on its own samples,
 * with the gradient of all.
 *
 * <p>All ranks start with the parameters of rank 0 and apply the same bits in each step, so their
 * parameters stay the same without being sent again. After each epoch they are kept as a
 * checkpoint. A group that repeats the training, because a rank was lost, continues from it.
 */
final class TrainingLoop {

  /** Notified of each epoch, on every rank. */
  interface EpochListener {

    /**
     * Returns the accuracy that belongs to the course, or NaN on a rank that does not measure it.
     *
     * @param loss the mean of all samples of all ranks
     */
    double ended(int epoch, double loss, Network network);
  }

  private static final String CHECKPOINT = "training";

  private final ProcessGroup world;
  private final TrainingOptions options;
  private final Device.Type device;

  TrainingLoop(ProcessGroup world, TrainingOptions options) {
    this(world, options, Device.Type.CPU);
  }

  /** Creates the loop; {@code device} adds up the gradients. */
  TrainingLoop(ProcessGroup world, TrainingOptions options, Device.Type device) {
    this.world = world;
    this.options = options;
    this.device = device;
  }

  /** Trains. All ranks call this, each with its own samples; some may have none. */
  TrainedModel run(List<Sample> own, EpochListener listener) {
    double[] parameters = options.network().randomParameters(options.seed() + world.rank());
    double[] velocity = new double[parameters.length];
    double[] losses = new double[options.epochs()];
    double[] accuracies = new double[options.epochs()];
    int[] done = {0};
    // The checkpoint keeps the state of rank 0, which measures the accuracy.
    List<Tensor> state =
        List.of(
            Tensor.of(parameters),
            Tensor.of(velocity),
            Tensor.of(losses),
            Tensor.of(accuracies),
            Tensor.of(done));
    if (!world.restore(CHECKPOINT, state)) {
      world.broadcast(Tensor.of(parameters), 0).await();
    }
    int restored = done[0];

    List<Sample> samples = new ArrayList<>(own);
    Network network = new Network(options.network(), parameters);
    Gradient gradient = new Gradient(parameters.length);
    GradientSum sum = new GradientSum(world, gradient.array(), device);
    int batch = Math.max(1, options.batch() / world.size());
    int steps = stepsPerEpoch(samples.size(), batch);
    Random order = new Random(options.seed() * 31 + world.rank());
    StepTimes times = new StepTimes(options.epochs() * steps);

    for (int epoch = 1; epoch <= options.epochs(); epoch++) {
      Collections.shuffle(samples, order);
      if (epoch <= restored) {
        continue; // Only the shuffles matter: the order in an epoch follows from those before.
      }
      double loss = 0;
      double seen = 0;
      for (int step = 0; step < steps; step++) {
        times.begin();
        int from = Math.min(samples.size(), step * batch);
        gradient.compute(network, samples.subList(from, Math.min(samples.size(), from + batch)));
        times.beginReduction();
        sum.run();
        times.endReduction();
        gradient.apply(parameters, velocity, options);
        times.end();
        loss += gradient.loss();
        seen += gradient.samples();
      }
      losses[epoch - 1] = loss / seen;
      accuracies[epoch - 1] = listener.ended(epoch, loss / seen, network);
      done[0] = epoch;
      world.checkpointReplicated(CHECKPOINT, state);
    }
    return new TrainedModel(
        parameters,
        losses,
        accuracies,
        times.medianMillis(),
        times.medianReductionMillis(),
        times.count(),
        restored);
  }

  /** Returns the number of steps of the rank with the most samples, which all ranks take. */
  private int stepsPerEpoch(int samples, int batch) {
    int[] steps = {(samples + batch - 1) / batch};
    world.allReduce(Tensor.of(steps), ReduceOp.MAX).await();
    if (steps[0] == 0) {
      throw new IllegalArgumentException("There are no samples to train on");
    }
    return steps[0];
  }
}
