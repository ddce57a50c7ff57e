package org.sparkcollectives.examples.digits;

import java.util.ArrayList;
import java.util.Collections;
import java.util.Iterator;
import java.util.List;
import java.util.Random;
import org.apache.spark.broadcast.Broadcast;
import org.sparkcollectives.ProcessGroup;
import org.sparkcollectives.ReduceOp;
import org.sparkcollectives.Tensor;
import org.sparkcollectives.spark.RankFunction;
import org.sparkcollectives.store.Store;

/** Trains as one rank: on its own images, with the gradient of all. */
final class TrainingRank implements RankFunction<Digit, TrainedModel> {

  private static final long serialVersionUID = 1;

  private final TrainingOptions options;
  private final Broadcast<List<Digit>> test;
  private final ProgressFeed feed;

  TrainingRank(TrainingOptions options, Broadcast<List<Digit>> test, ProgressFeed feed) {
    this.options = options;
    this.test = test;
    this.feed = feed;
  }

  @Override
  public Iterator<TrainedModel> call(ProcessGroup world, Iterator<Digit> rows) {
    List<Digit> images = new ArrayList<>();
    rows.forEachRemaining(images::add);
    if (world.rank() != 0) {
      train(world, images, epoch -> {});
      return Collections.emptyIterator();
    }
    try (Store driver = feed.connect()) {
      return List.of(train(world, images, epoch -> ProgressFeed.push(driver, epoch))).iterator();
    }
  }

  private interface EpochListener {
    void ended(Epoch epoch);
  }

  private TrainedModel train(ProcessGroup world, List<Digit> images, EpochListener listener) {
    double[] parameters = Network.randomParameters(options.hidden(), options.seed() + world.rank());
    world.broadcast(Tensor.of(parameters), 0).await();

    Network network = new Network(options.hidden(), parameters);
    Gradient gradient = new Gradient(parameters.length);
    Tensor reduced = Tensor.of(gradient.array());
    double[] velocity = new double[parameters.length];
    int batch = Math.max(1, options.batch() / world.size());
    int steps = stepsPerEpoch(world, images.size(), batch);
    Random order = new Random(options.seed() * 31 + world.rank());
    StepTimes stepTimes = new StepTimes(options.epochs() * steps);

    for (int epoch = 1; epoch <= options.epochs(); epoch++) {
      Collections.shuffle(images, order);
      double loss = 0;
      double seen = 0;
      for (int step = 0; step < steps; step++) {
        stepTimes.begin();
        int from = Math.min(images.size(), step * batch);
        gradient.compute(network, images.subList(from, Math.min(images.size(), from + batch)));
        stepTimes.beginReduction();
        world.allReduce(reduced, ReduceOp.SUM).await();
        stepTimes.endReduction();
        gradient.apply(parameters, velocity, options);
        stepTimes.end();
        loss += gradient.loss();
        seen += gradient.images();
      }
      if (world.rank() == 0) {
        listener.ended(new Epoch(epoch, loss / seen, network.accuracy(test.value())));
      }
    }
    return new TrainedModel(
        parameters, stepTimes.medianMillis(), stepTimes.medianReductionMillis(), stepTimes.count());
  }

  /** All ranks take as many steps as the one with the most images. */
  private static int stepsPerEpoch(ProcessGroup world, int images, int batch) {
    int[] steps = {(images + batch - 1) / batch};
    world.allReduce(Tensor.of(steps), ReduceOp.MAX).await();
    if (steps[0] == 0) {
      throw new IllegalArgumentException("There are no images to train on");
    }
    return steps[0];
  }
}
