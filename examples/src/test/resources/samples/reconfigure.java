import java.util.List;
import org.sparkcollectives.*;
import org.sparkcollectives.spark.SparkCollectives;

class Reconfigure {
  static void sample(ProcessGroup world, Tensor gradient, long change) {
$sample
  }
}
