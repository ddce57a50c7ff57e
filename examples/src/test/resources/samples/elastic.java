import java.util.*;
import org.apache.spark.api.java.JavaRDD;
import org.sparkcollectives.*;
import org.sparkcollectives.spark.*;

class Elastic {
  static final int FEATURES = 10;

  record Batches(Iterator<double[]> rows) {
    double[] gradient(double[] model, long step) {
      return rows.next();
    }
  }

  static void descend(double[] model, double[] gradient) {}

  static Object sample(JavaRDD<double[]> rows) {
$sample
    return weights;
  }
}
