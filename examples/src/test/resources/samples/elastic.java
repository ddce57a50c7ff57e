import java.util.*;
import org.apache.spark.api.java.JavaRDD;
import org.sparkcollectives.*;
import org.sparkcollectives.spark.*;
import org.sparkcollectives.spark.elastic.*;

class Elastic {
  static final int FEATURES = 10;

  static final class Batches {
    private final List<double[]> rows = new ArrayList<>();

    Batches(Iterator<double[]> rows) {
      rows.forEachRemaining(this.rows::add);
    }

    double[] gradient(double[] model, long step) {
      return rows.get((int) (step % rows.size())).clone();
    }
  }

  static void descend(double[] model, double[] gradient) {}

  static Object sample(JavaRDD<double[]> rows) {
$sample
    return weights;
  }
}
