import java.util.List;
import java.util.Map;
import org.sparkcollectives.*;
import org.sparkcollectives.ddp.*;

abstract class BlockwiseInt8Sample {
  abstract void train(GradientReducer reducer);

  abstract void log(double rate);

  abstract void save(int rank, Map<String, Tensor> state);

  void sample(ProcessGroup world, List<Parameter> parameters) {
$sample
  }
}
