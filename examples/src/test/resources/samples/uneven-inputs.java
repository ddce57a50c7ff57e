import java.util.Iterator;
import java.util.List;
import org.sparkcollectives.ddp.*;
import org.sparkcollectives.join.*;

abstract class UnevenInputs {
  abstract void backward(float[][] batch, GradientReducer reducer);

  abstract void descend(List<Parameter> parameters, GradientReducer reducer);

  void sample(GradientReducer reducer, List<Parameter> parameters, Iterator<float[][]> batches)
      throws Exception {
$sample
  }
}
