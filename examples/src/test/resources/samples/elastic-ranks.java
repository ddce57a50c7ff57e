import java.util.*;
import org.apache.spark.api.java.JavaRDD;
import org.sparkcollectives.*;
import org.sparkcollectives.spark.*;

class ElasticRanks {
  static final class Shard {
    private final double[] weights = new double[10];

    Shard(Iterator<double[]> rows, int rank, int size) {}

    double[] weights() {
      return weights;
    }

    double[] gradient(ProcessGroup ranks, long step) {
      return weights.clone();
    }

    void descend(double[] gradient) {}
  }

  static Object sample(JavaRDD<double[]> rows) {
$sample
    return first;
  }
}
