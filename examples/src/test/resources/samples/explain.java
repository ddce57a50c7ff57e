import org.sparkcollectives.AlgorithmChoices;
import org.sparkcollectives.DType;
import org.sparkcollectives.OpType;
import org.sparkcollectives.ProcessGroup;
import org.sparkcollectives.ReduceOp;

class Explain {
  static void print(ProcessGroup world) {
$sample
  }
}
