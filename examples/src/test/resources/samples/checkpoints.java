import java.util.List;
import org.sparkcollectives.*;

abstract class Checkpoints {
  abstract double[] initialParameters();

  abstract void train(ProcessGroup world, double[] parameters);

  void sample(ProcessGroup world, int steps) {
$sample
  }
}
