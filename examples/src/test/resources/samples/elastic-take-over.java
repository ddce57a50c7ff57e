import java.util.*;
import org.apache.spark.api.java.JavaRDD;
import org.apache.spark.storage.StorageLevel;
import org.sparkcollectives.*;
import org.sparkcollectives.spark.*;
import org.sparkcollectives.spark.elastic.LostRows;

class ElasticTakeOver {
  static final int FEATURES = 10;

  static final class Points {
    private final List<double[]> rows = new ArrayList<>();

    Points(Iterator<double[]> rows) {
      rows.forEachRemaining(this.rows::add);
    }

    double[] gradient(double[] model) {
      return rows.get(0).clone();
    }
  }

  static void descend(double[] model, double[] gradient) {}

  static Object sample(JavaRDD<double[]> rows) {
$sample
    return weights;
  }
}
