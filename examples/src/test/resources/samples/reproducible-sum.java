import java.util.List;
import org.sparkcollectives.ProcessGroup;
import org.sparkcollectives.Tensor;
import org.sparkcollectives.reproducible.ReproducibleSum;

abstract class SumOfRows {
  double[] run(ProcessGroup world, List<double[]> rows, int features) {
$sample
    return total;
  }
}
