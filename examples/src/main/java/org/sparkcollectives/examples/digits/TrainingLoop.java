package org.sparkcollectives.examples.digits;

import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import org.sparkcollectives.ProcessGroup;
import org.sparkcollectives.ReduceOp;
import org.sparkcollectives.Tensor;

/**
 * Stochastic gradient descent with momentum, as one rank of a group sees it: on its own images,
 * with the gradient of all.
 *
 * <p>All ranks start with the parameters of rank 0 and apply the same bits in each step, so their
 * parameters stay the same without being sent again.
 */
final class TrainingLoop {

  /** Told of each epoch, on every rank. */
  interface EpochListener {

    /** The mean loss is that of all images of all ranks. */
    void ended(int epoch, double loss, Network network);
  }

  private final ProcessGroup world;
  private final TrainingOptions options;

  TrainingLoop(ProcessGroup world, TrainingOptions options) {
    this.world = world;
    this.options = options;
  }

  /** Trains; called by all ranks, each with its own images, of which some may have none. */
  TrainedModel run(List<Digit> own, EpochListener listener) {
    double[] parameters = Network.randomParameters(options.hidden(), options.seed() + world.rank());
    world.broadcast(Tensor.of(parameters), 0).await();

    List<Digit> images = new ArrayList<>(own);
    Network network = new Network(options.hidden(), parameters);
    Gradient gradient = new Gradient(parameters.length);
    Tensor reduced = Tensor.of(gradient.array());
    double[] velocity = new double[parameters.length];
    int batch = Math.max(1, options.batch() / world.size());
    int steps = stepsPerEpoch(images.size(), batch);
    Random order = new Random(options.seed() * 31 + world.rank());
    StepTimes times = new StepTimes(options.epochs() * steps);

    for (int epoch = 1; epoch <= options.epochs(); epoch++) {
      Collections.shuffle(images, order);
      double loss = 0;
      double seen = 0;
      for (int step = 0; step < steps; step++) {
        times.begin();
        int from = Math.min(images.size(), step * batch);
        gradient.compute(network, images.subList(from, Math.min(images.size(), from + batch)));
        times.beginReduction();
        world.allReduce(reduced, ReduceOp.SUM).await();
        times.endReduction();
        gradient.apply(parameters, velocity, options);
        times.end();
        loss += gradient.loss();
        seen += gradient.images();
      }
      listener.ended(epoch, loss / seen, network);
    }
    return new TrainedModel(
        parameters, times.medianMillis(), times.medianReductionMillis(), times.count());
  }

  /** All ranks take as many steps as the one with the most images. */
  private int stepsPerEpoch(int images, int batch) {
    int[] steps = {(images + batch - 1) / batch};
    world.allReduce(Tensor.of(steps), ReduceOp.MAX).await();
    if (steps[0] == 0) {
      throw new IllegalArgumentException("There are no images to train on");
    }
    return steps[0];
  }
}
