import org.apache.spark.api.java.JavaRDD;
import org.apache.spark.resource.*;
import org.sparkcollectives.spark.BarrierStage;

class GpuResources {
  static void sample(JavaRDD<double[]> rdd) {
$sample
    ;
  }
}
