import org.sparkcollectives.*;

class Label {
  static void sample(ProcessGroup group, Tensor gradients) {
$sample
  }
}
