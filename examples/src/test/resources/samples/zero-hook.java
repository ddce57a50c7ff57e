import java.util.List;
import org.sparkcollectives.*;
import org.sparkcollectives.ddp.*;
import org.sparkcollectives.zero.*;

abstract class ZeroHook {
  abstract void backward(GradientReducer reducer);

  void sample(ProcessGroup world, List<Parameter> parameters, GradientReducer reducer, int steps) {
$sample
  }
}
