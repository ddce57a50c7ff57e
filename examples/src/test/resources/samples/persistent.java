import org.sparkcollectives.PersistentCollective;
import org.sparkcollectives.ProcessGroup;
import org.sparkcollectives.Tensor;

abstract class Persistent {
  abstract void computeGradient(double[][] rows, double[] parameters, double[] gradient);

  abstract void descend(double[] parameters, double[] gradient);

  void run(ProcessGroup world, double[][] rows, double[] parameters, int steps) {
$sample
  }
}
