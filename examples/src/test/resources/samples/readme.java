import java.util.*;
import org.apache.spark.api.java.JavaRDD;
import org.sparkcollectives.*;
import org.sparkcollectives.spark.*;

class Readme {
  static double[] localGradient(Iterator<double[]> rows) {
    return rows.next();
  }

  static Object sample(JavaRDD<double[]> points) {
$sample
    return gradients;
  }
}
