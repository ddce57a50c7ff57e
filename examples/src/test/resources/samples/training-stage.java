import java.util.*;
import org.apache.spark.api.java.JavaRDD;
import org.sparkcollectives.*;
import org.sparkcollectives.spark.*;

class TrainingStage {
  static float[] train(ProcessGroup world, Iterator<float[]> rows) {
    return rows.next();
  }

  static Object sample(JavaRDD<float[]> rows) {
$sample
    return model;
  }
}
