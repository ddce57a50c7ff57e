import org.sparkcollectives.ProcessGroup;
import org.sparkcollectives.ReduceOp;
import org.sparkcollectives.Tensor;
import org.sparkcollectives.mesh.DeviceMesh;

class Mesh {
  static void step(ProcessGroup world, Tensor activations, Tensor gradients, Tensor loss) {
$sample
  }
}
