import java.time.Duration;
import org.apache.spark.SparkContext;
import org.sparkcollectives.spark.*;

class AskingRanks {
  static void sample(SparkContext sparkContext) throws Exception {
$sample
  }
}
