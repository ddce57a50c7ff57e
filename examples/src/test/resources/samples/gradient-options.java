import java.util.List;
import org.sparkcollectives.*;
import org.sparkcollectives.ddp.*;

abstract class GradientOptionsSample {
  abstract int[] backward();

  void sample(ProcessGroup world, List<Parameter> parameters, int[][] batches, int window) {
$sample
  }
}
