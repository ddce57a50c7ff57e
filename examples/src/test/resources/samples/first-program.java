import java.util.*;
import org.apache.spark.api.java.*;
import org.sparkcollectives.*;
import org.sparkcollectives.spark.*;

class FirstProgram {
  static void sample(JavaSparkContext sc) {
$sample
  }
}
