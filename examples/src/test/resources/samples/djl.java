import ai.djl.Model;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.types.DataType;
import ai.djl.ndarray.types.Shape;
import ai.djl.nn.Activation;
import ai.djl.nn.Block;
import ai.djl.nn.SequentialBlock;
import ai.djl.nn.core.Linear;
import ai.djl.training.DefaultTrainingConfig;
import ai.djl.training.EasyTrain;
import ai.djl.training.GradientCollector;
import ai.djl.training.Trainer;
import ai.djl.training.dataset.ArrayDataset;
import ai.djl.training.loss.Loss;
import ai.djl.training.optimizer.Optimizer;
import ai.djl.training.tracker.Tracker;
import java.nio.file.Path;
import java.util.List;
import java.util.function.Function;
import org.sparkcollectives.ProcessGroup;
import org.sparkcollectives.ddp.ReducerOptions;
import org.sparkcollectives.djl.CollectiveOptimizer;
import org.sparkcollectives.djl.RankGradients;
import org.sparkcollectives.join.Join;
import org.sparkcollectives.join.JoinOptions;

public class Sample {
  private final Function<NDManager, ArrayDataset> rows;

  public Sample(Function<NDManager, ArrayDataset> rows) {
    this.rows = rows;
  }

  private ArrayDataset rows(NDManager manager) {
    return rows.apply(manager);
  }

  public void train(ProcessGroup world, Path folder) throws Exception {
$sample
  }
}
