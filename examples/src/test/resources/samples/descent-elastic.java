import org.apache.spark.api.java.JavaRDD;
import org.apache.spark.storage.StorageLevel;
import org.sparkcollectives.spark.IterativeStage;
import org.sparkcollectives.spark.iteration.IterationResult;

class DescentElastic {
  static double[] addGradient(double[] gradient, double[] weights, double[] row) {
    return gradient;
  }

  static double[] step(double[] weights, double[] gradient, double rate) {
    return weights;
  }

  static double[] sample(JavaRDD<double[]> points, int features, long rows) {
$sample
    return result.state();
  }
}
