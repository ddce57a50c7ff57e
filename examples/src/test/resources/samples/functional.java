import java.util.concurrent.CompletableFuture;
import org.sparkcollectives.ProcessGroup;
import org.sparkcollectives.ReduceOp;
import org.sparkcollectives.Tensor;
import org.sparkcollectives.functional.FunctionalCollectives;

class Functional {
  static void step(ProcessGroup group, Tensor gradient, Tensor shard, Tensor next) {
$sample
  }
}
