import java.util.List;
import org.sparkcollectives.*;
import org.sparkcollectives.ddp.*;

abstract class GradientOptionsSample {
  abstract int[] backward(int[] batch);

  abstract void descend(List<Parameter> parameters, GradientReducer reducer);

  void sample(ProcessGroup world, List<Parameter> parameters, int[][] batches, int window) {
$sample
  }
}
