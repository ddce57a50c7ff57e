package org.sparkcollectives.djl;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import ai.djl.Model;
import ai.djl.ndarray.types.Shape;
import ai.djl.training.EasyTrain;
import ai.djl.training.Trainer;
import ai.djl.training.optimizer.Optimizer;
import java.util.Arrays;
import java.util.stream.Collectors;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.sparkcollectives.GroupOptions;
import org.sparkcollectives.ProcessGroup;
import org.sparkcollectives.Rendezvous;
import org.sparkcollectives.ddp.ReducerOptions;
import org.sparkcollectives.testing.RankProcesses;

/** Trains in processes with one rank each, by DJL's own trainer and collector of gradients. */
@Timeout(180)
class TwoProcessesTest {

  private static final int BATCH = 8;

  @BeforeAll
  static void needsPyTorch() {
    Engines.assumePyTorch();
  }

  /** Trains as one rank, and prints the values of the first layer. */
  static final class FittingRank {

    private FittingRank() {}

    public static void main(String[] args) throws Exception {
      System.setProperty("ai.djl.offline", "true");
      System.setProperty("DJL_CACHE_DIR", args[2]);
      int rank = Integer.parseInt(args[0]);
      try (ProcessGroup world = Rendezvous.join(args[1], rank, 2, GroupOptions.defaults());
          Model model = Models.twoLayers(rank);
          CollectiveOptimizer optimizer =
              CollectiveOptimizer.of(
                  world, model.getBlock(), RankTraining.sgd(), ReducerOptions.defaults())) {
        fit(model, optimizer, BATCH / 2, RankTraining.share(0, RankTraining.ROWS, rank, 2));
        System.out.println("values " + text(Models.values(model.getBlock()).get(0)));
      }
    }
  }

  private static void fit(Model model, Optimizer optimizer, int batch, int... rows)
      throws Exception {
    try (Trainer trainer = model.newTrainer(RankTraining.config(optimizer))) {
      trainer.initialize(new Shape(1, Models.FEATURES));
      EasyTrain.fit(trainer, 1, RankTraining.dataset(model.getNDManager(), batch, rows), null);
    }
  }

  private static String text(float[] values) {
    return Arrays.toString(values).replaceAll("[\\[\\]]", "");
  }

  private static float[] values(RankProcesses ranks, int rank) {
    String line =
        ranks
            .output(rank)
            .lines()
            .filter(each -> each.startsWith("values "))
            .collect(Collectors.joining());
    String[] texts = line.substring("values ".length()).split(", ", -1);
    float[] values = new float[texts.length];
    for (int i = 0; i < values.length; i++) {
      values[i] = Float.parseFloat(texts[i]);
    }
    return values;
  }

  @Test
  void theTrainersOfDjlTrainOneModel() throws Exception {
    String url = "tcp://127.0.0.1:" + RankProcesses.freePort();
    try (Model model = Models.twoLayers(0);
        RankProcesses ranks =
            RankProcesses.start(FittingRank.class, 2, url, System.getProperty("DJL_CACHE_DIR"))) {
      fit(model, RankTraining.sgd(), BATCH, RankTraining.range(0, RankTraining.ROWS));
      for (int rank = 0; rank < 2; rank++) {
        assertThat(ranks.exitStatus(rank)).as(ranks.output(rank)).isZero();
      }
      assertThat(values(ranks, 1)).containsExactly(values(ranks, 0));
      assertThat(values(ranks, 0))
          .containsExactly(Models.values(model.getBlock()).get(0), within(1e-6f));
    }
  }
}
