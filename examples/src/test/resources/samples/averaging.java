import java.util.Iterator;
import java.util.List;
import org.sparkcollectives.*;
import org.sparkcollectives.averaging.*;
import org.sparkcollectives.zero.*;

abstract class Averaging {
  abstract List<Tensor> gradients(float[][] batch);

  void sample(ProcessGroup world, List<Tensor> values, Iterator<float[][]> batches) {
$sample
  }
}
