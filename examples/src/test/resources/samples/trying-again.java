import org.apache.spark.api.java.JavaRDD;
import org.sparkcollectives.spark.*;

class TryingAgain {
  static void sample(JavaRDD<double[]> points, RankFunction<double[], Double> function) {
$sample
  }
}
