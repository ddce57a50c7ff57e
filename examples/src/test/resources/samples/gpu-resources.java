import org.apache.spark.api.java.JavaRDD;
import org.apache.spark.resource.*;

class GpuResources {
  static Object sample(JavaRDD<double[]> rdd) {
$sample
  }
}
