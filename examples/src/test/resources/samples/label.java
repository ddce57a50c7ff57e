import org.sparkcollectives.*;
import org.sparkcollectives.diagnostics.CommLabel;

class Label {
  static void sample(ProcessGroup group, Tensor gradients) {
$sample
  }
}
