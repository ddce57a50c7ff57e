import org.sparkcollectives.*;
import org.sparkcollectives.CommLabel;

class Label {
  static void sample(ProcessGroup group, Tensor gradients) {
$sample
  }
}
