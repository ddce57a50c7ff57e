import java.util.List;
import java.util.Map;
import org.sparkcollectives.*;
import org.sparkcollectives.ddp.*;

abstract class CommHooksSample {
  abstract int[] backward();

  abstract void update(List<Parameter> parameters);

  abstract void save(int rank, Map<String, Tensor> state);

  void sample(ProcessGroup world, List<Parameter> parameters, int steps) {
$sample
  }
}
