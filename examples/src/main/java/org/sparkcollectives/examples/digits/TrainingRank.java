package org.sparkcollectives.examples.digits;

import java.util.ArrayList;
import java.util.Collections;
import java.util.Iterator;
import java.util.List;
import org.apache.spark.broadcast.Broadcast;
import org.sparkcollectives.ProcessGroup;
import org.sparkcollectives.spark.RankFunction;
import org.sparkcollectives.store.Store;

/** Trains on the rows of one partition; rank 0 reports to the driver and returns the model. */
final class TrainingRank implements RankFunction<Sample, TrainedModel> {

  private static final long serialVersionUID = 1;

  private final TrainingOptions options;
  private final Broadcast<List<Sample>> test;
  private final ProgressFeed feed;

  TrainingRank(TrainingOptions options, Broadcast<List<Sample>> test, ProgressFeed feed) {
    this.options = options;
    this.test = test;
    this.feed = feed;
  }

  @Override
  public Iterator<TrainedModel> call(ProcessGroup world, Iterator<Sample> rows) {
    List<Sample> samples = new ArrayList<>();
    rows.forEachRemaining(samples::add);
    TrainingLoop loop = new TrainingLoop(world, options);
    if (world.rank() != 0) {
      loop.run(samples, (epoch, loss, network) -> {});
      return Collections.emptyIterator();
    }
    try (Store driver = feed.connect()) {
      TrainedModel model =
          loop.run(
              samples,
              (epoch, loss, network) ->
                  ProgressFeed.push(
                      driver, new Epoch(epoch, loss, network.accuracy(test.value()))));
      return List.of(model).iterator();
    }
  }
}
