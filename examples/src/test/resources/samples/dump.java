import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.apache.spark.SparkContext;
import org.sparkcollectives.spark.*;

class Dump {
  static List<Path> sample(SparkContext sparkContext) throws Exception {
$sample
    return folders;
  }
}
