package org.sparkcollectives.examples.digits;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.sparkcollectives.GroupOptions;
import org.sparkcollectives.spi.RankContext;
import org.sparkcollectives.store.HashStore;
import org.sparkcollectives.store.Store;
import org.sparkcollectives.testing.GroupRuns;

/** Tests the training with ranks that are threads of this JVM, without Spark. */
class TrainingLoopTest {

  private static final int ALL = 1 << 20;

  private static List<Sample> digits;

  @BeforeAll
  static void readDigits() throws IOException {
    digits = Digits.read();
  }

  private static NetworkShape shape(int hidden) {
    return new NetworkShape(64, hidden, 10);
  }

  private static List<TrainedModel> train(List<List<Sample>> images, TrainingOptions options) {
    return GroupRuns.run(
        images.size(),
        GroupOptions.defaults(),
        world ->
            new TrainingLoop(world, options)
                .run(images.get(world.rank()), (epoch, loss, network) -> 0.1 * epoch));
  }

  private static List<List<Sample>> deal(List<Sample> images, int ranks) {
    List<List<Sample>> hands = new ArrayList<>();
    for (int rank = 0; rank < ranks; rank++) {
      hands.add(new ArrayList<>());
    }
    for (int i = 0; i < images.size(); i++) {
      hands.get(i % ranks).add(images.get(i));
    }
    return hands;
  }

  @Test
  void unevenAndEmptyPartitionsGiveTheGradientOfAllImages() {
    TrainingOptions wholeBatch = new TrainingOptions(shape(8), 5, ALL, 0.5, 0.9, 3);
    List<Sample> images = digits.subList(0, 100);
    double[] expected = plainDescent(images, wholeBatch);

    List<List<Sample>> uneven = List.of(images.subList(0, 91), List.of(), images.subList(91, 100));
    for (List<List<Sample>> hands : List.of(List.of(images), uneven)) {
      for (TrainedModel model : train(hands, wholeBatch)) {
        assertThat(model.steps()).isEqualTo(5);
        assertThat(model.parameters()).containsExactly(expected, within(1e-9));
      }
    }
  }

  @Test
  void theReducerTakesTheMeanOverTheRowsOfUnevenAndEmptyPartitions() {
    TrainingOptions wholeBatch = new TrainingOptions(shape(8), 5, ALL, 0.5, 0.9, 3);
    List<Sample> images = digits.subList(0, 100);
    double[] expected = plainDescent(images, wholeBatch);

    List<List<Sample>> uneven = List.of(images.subList(0, 91), List.of(), images.subList(91, 100));
    for (List<List<Sample>> hands : List.of(List.of(images), uneven)) {
      for (TrainedModel model : trainByReducer(hands, wholeBatch)) {
        assertThat(model.steps()).isEqualTo(5);
        assertThat(model.parameters()).containsExactly(expected, within(1e-9));
      }
    }
  }

  @Test
  void theReducerGivesAllRanksTheSameBitsFromSmallBatchesToo() {
    for (int hidden : new int[] {0, 16}) {
      TrainingOptions options = new TrainingOptions(shape(hidden), 3, 32, 0.1, 0.9, 5);
      List<List<Sample>> uneven =
          List.of(digits.subList(0, 300), digits.subList(300, 310), digits.subList(310, 500));
      List<TrainedModel> models = trainByReducer(uneven, options);
      assertThat(models).extracting(TrainedModel::steps).containsOnly(3 * 30);
      assertThat(models.get(0).course().get(2).loss())
          .isLessThan(models.get(0).course().get(0).loss());
      for (TrainedModel model : models) {
        assertThat(model.parameters()).containsExactly(models.get(0).parameters());
      }
    }
  }

  private static List<TrainedModel> trainByReducer(
      List<List<Sample>> images, TrainingOptions options) {
    return GroupRuns.run(
        images.size(),
        GroupOptions.defaults(),
        world ->
            new ReducerTrainingLoop(world, options)
                .run(images.get(world.rank()), (epoch, loss, network) -> 0.1 * epoch));
  }

  /** Runs the textbook's gradient descent with momentum, without ranks. */
  private static double[] plainDescent(List<Sample> images, TrainingOptions options) {
    double[] parameters = options.network().randomParameters(options.seed());
    Network network = new Network(options.network(), parameters);
    double[] velocity = new double[parameters.length];
    for (int epoch = 0; epoch < options.epochs(); epoch++) {
      double[] gradient = new double[parameters.length];
      for (Sample digit : images) {
        network.addGradient(digit, gradient);
      }
      for (int i = 0; i < parameters.length; i++) {
        double mean = gradient[i] / images.size();
        velocity[i] = options.momentum() * velocity[i] - options.learningRate() * mean;
        parameters[i] += velocity[i];
      }
    }
    return parameters;
  }

  @Test
  void allRanksHaveTheSameBitsAndSoHasASecondRun() {
    TrainingOptions options = new TrainingOptions(shape(16), 3, 32, 0.1, 0.9, 5);
    List<List<Sample>> hands = deal(digits.subList(0, 500), 3);
    double[] first = train(hands, options).get(0).parameters();
    for (TrainedModel model : train(hands, options)) {
      assertThat(model.parameters()).containsExactly(first);
    }
  }

  @Test
  void anotherSeedGivesAnotherModel() {
    List<List<Sample>> hands = deal(digits.subList(0, 50), 2);
    double[] one =
        train(hands, new TrainingOptions(shape(4), 1, 50, 0.1, 0.9, 1)).get(0).parameters();
    double[] two =
        train(hands, new TrainingOptions(shape(4), 1, 50, 0.1, 0.9, 2)).get(0).parameters();
    assertThat(one).isNotEqualTo(two);
  }

  @Test
  void theListenerHearsOfEachEpochWithAFallingLoss() {
    TrainingOptions options = new TrainingOptions(shape(0), 6, 64, 0.1, 0.5, 1);
    List<Double> losses = new ArrayList<>();
    GroupRuns.run(
        2,
        GroupOptions.defaults(),
        world ->
            new TrainingLoop(world, options)
                .run(
                    deal(digits, 2).get(world.rank()),
                    (epoch, loss, network) -> {
                      if (world.rank() == 0) {
                        assertThat(epoch).isEqualTo(losses.size() + 1);
                        losses.add(loss);
                      }
                      return 0;
                    }));
    assertThat(losses).hasSize(6).isSortedAccordingTo((a, b) -> Double.compare(b, a));
  }

  @Test
  void ranksThatBeginAgainGoOnWhereTheLastEpochEnded() {
    TrainingOptions options = new TrainingOptions(shape(8), 5, 32, 0.1, 0.9, 4);
    List<List<Sample>> hands = deal(digits.subList(0, 300), 3);
    TrainedModel undisturbed = train(hands, options).get(0);
    assertThat(undisturbed.course()).extracting(Epoch::number).containsExactly(1, 2, 3, 4, 5);

    List<Integer> epochs = Collections.synchronizedList(new ArrayList<>());
    try (HashStore store = new HashStore()) {
      assertThatThrownBy(() -> trainOver(store, hands, options, 3, epochs))
          .hasStackTraceContaining("rank 2 is lost");
      assertThat(epochs).containsExactly(1, 2, 3);
      for (TrainedModel model : trainOver(store, hands, options, 0, epochs)) {
        assertThat(model.parameters()).containsExactly(undisturbed.parameters());
        assertThat(model.course()).isEqualTo(undisturbed.course());
        assertThat(model.restoredEpochs()).isEqualTo(2);
      }
    }
    assertThat(epochs).containsExactly(1, 2, 3, 3, 4, 5);
  }

  /** Trains; rank 2 records each epoch, and is lost at the end of one. */
  private static List<TrainedModel> trainOver(
      Store store,
      List<List<Sample>> hands,
      TrainingOptions options,
      int lost,
      List<Integer> epochs) {
    return GroupRuns.run(
        store,
        hands.size(),
        GroupOptions.defaults(),
        rank -> RankContext.process(),
        world ->
            new TrainingLoop(world, options)
                .run(
                    hands.get(world.rank()),
                    (epoch, loss, network) -> {
                      if (world.rank() == 2) {
                        epochs.add(epoch);
                      }
                      if (world.rank() == 2 && epoch == lost) {
                        IllegalStateException cause = new IllegalStateException("rank 2 is lost");
                        world.abort(cause);
                        throw cause;
                      }
                      return 0.1 * epoch;
                    }));
  }

  @Test
  void noImagesAtAllAreRefusedOnEveryRank() {
    assertThatThrownBy(
            () ->
                train(
                    List.of(List.of(), List.of()), new TrainingOptions(shape(0), 1, 8, 0.1, 0, 1)))
        .hasRootCauseMessage("There are no samples to train on");
  }
}
