import java.util.List;
import org.sparkcollectives.*;
import org.sparkcollectives.ddp.*;

abstract class GradientReducerSample {
  abstract float[] random(int count);

  abstract void descend(float[] weights, float[] gradient);

  void sample(ProcessGroup world, float[][] rows, float[] targets, int inputs, int hidden) {
$sample
  }
}
