import org.sparkcollectives.AlgorithmChoices;
import org.sparkcollectives.DType;
import org.sparkcollectives.ProcessGroup;
import org.sparkcollectives.ReduceOp;
import org.sparkcollectives.OpType;

class Explain {
  static void print(ProcessGroup world) {
$sample
  }
}
