package org.sparkcollectives.examples.digits;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Iterator;
import java.util.List;
import org.apache.spark.TaskContext;
import org.apache.spark.broadcast.Broadcast;
import org.apache.spark.util.CollectionAccumulator;
import org.sparkcollectives.ProcessGroup;
import org.sparkcollectives.spark.RankFunction;

/**
 * Trains on the rows of one partition. Rank 0 reports to the driver and returns the model. The last
 * rank may be told to kill its executor during the training, to show the consequences.
 */
final class TrainingRank implements RankFunction<Sample, TrainedModel> {

  private static final long serialVersionUID = 1;

  private final TrainingOptions options;
  private final Broadcast<List<Sample>> test;
  private final CollectionAccumulator<double[]> progress;
  private final TrainingEngine engine;
  private final TrainingDevice device;
  private final int killedEpoch;

  /**
   * Creates the function of all ranks.
   *
   * @param progress where rank 0 adds each epoch, see {@link Epoch#toArray}
   * @param engine what computes gradients
   * @param device where gradients are added up
   * @param killedEpoch the epoch at whose end the executor of the last rank is killed, before the
   *     epoch is kept; 0 for none
   */
  TrainingRank(
      TrainingOptions options,
      Broadcast<List<Sample>> test,
      CollectionAccumulator<double[]> progress,
      TrainingEngine engine,
      TrainingDevice device,
      int killedEpoch) {
    this.options = options;
    this.test = test;
    this.progress = progress;
    this.engine = engine;
    this.device = device;
    this.killedEpoch = killedEpoch;
  }

  @Override
  public Iterator<TrainedModel> call(ProcessGroup world, Iterator<Sample> rows) {
    List<Sample> samples = new ArrayList<>();
    rows.forEachRemaining(samples::add);
    int victim = world.rank() == world.size() - 1 && isFirstAttempt() ? killedEpoch : 0;
    TrainingLoop.EpochListener listener =
        (number, loss, network) -> {
          double accuracy = Double.NaN;
          if (world.rank() == 0) {
            Epoch epoch = new Epoch(number, loss, network.accuracy(test.value()));
            progress.add(epoch.toArray());
            accuracy = epoch.accuracy();
          }
          killIfEqual(number, victim);
          return accuracy;
        };
    TrainedModel model = train(world, samples, listener);
    return world.rank() == 0 ? List.of(model).iterator() : Collections.emptyIterator();
  }

  private TrainedModel train(
      ProcessGroup world, List<Sample> samples, TrainingLoop.EpochListener listener) {
    return switch (engine) {
      case JAVA -> new TrainingLoop(world, options, device.type()).run(samples, listener);
      case REDUCER -> new ReducerTrainingLoop(world, options).run(samples, listener);
      case DJL -> new DjlTrainingLoop(world, options).run(samples, listener);
    };
  }

  private static boolean isFirstAttempt() {
    return TaskContext.get().stageAttemptNumber() == 0;
  }

  /**
   * Kills this process as the operating system does when memory is short: no hook runs, nothing is
   * sent.
   */
  private static void killIfEqual(int epoch, int victim) {
    if (epoch == victim) {
      try {
        String self = Long.toString(ProcessHandle.current().pid());
        new ProcessBuilder("kill", "-9", self).start().waitFor();
        throw new IllegalStateException("kill -9 " + self + " did not do it");
      } catch (IOException e) {
        throw new UncheckedIOException("There is no program named kill", e);
      } catch (InterruptedException e) {
        throw new IllegalStateException("The task was killed before it killed its executor", e);
      }
    }
  }
}
