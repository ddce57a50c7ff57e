import java.util.*;
import org.sparkcollectives.*;

class Objects {
  record Report(int rank) {}

  static void sample(ProcessGroup world, Map<String, Integer> wordsAtRank0, Report report) {
$sample
  }
}
