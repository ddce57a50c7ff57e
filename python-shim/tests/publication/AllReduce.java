import java.io.IOException;
import java.util.Collections;
import java.util.Iterator;
import java.util.List;
import java.util.stream.Collectors;
import org.apache.spark.SparkConf;
import org.apache.spark.api.java.JavaRDD;
import org.apache.spark.api.java.JavaSparkContext;
import org.sparkcollectives.ProcessGroup;
import org.sparkcollectives.ReduceOp;
import org.sparkcollectives.Tensor;
import org.sparkcollectives.spark.BarrierStage;

/** Sums 1 to 4 over four ranks, and prints how often executors find some classes. */
public final class AllReduce {

  private record Result(double sum, int netty, int core, String version)
      implements java.io.Serializable {}

  private static int count(String name) {
    try {
      ClassLoader loader = Thread.currentThread().getContextClassLoader();
      return Collections.list(loader.getResources(name)).size();
    } catch (IOException e) {
      throw new IllegalStateException(e);
    }
  }

  private static Iterator<Result> task(ProcessGroup world, Iterator<Integer> rows) {
    double[] sum = {rows.next()};
    world.allReduce(Tensor.of(sum), ReduceOp.SUM).await();
    Result result =
        new Result(
            sum[0],
            count("io/netty/channel/Channel.class"),
            count("org/sparkcollectives/ProcessGroup.class"),
            BarrierStage.class.getPackage().getImplementationVersion());
    return List.of(result).iterator();
  }

  public static void main(String[] arguments) {
    try (JavaSparkContext context = new JavaSparkContext(new SparkConf().setAppName("sums"))) {
      JavaRDD<Integer> numbers = context.parallelize(List.of(1, 2, 3, 4), 4);
      List<Result> results = BarrierStage.of(numbers).mapPartitions(AllReduce::task).collect();
      System.out.println("result.sums=" + results.stream().map(Result::sum).toList());
      System.out.println("result.netty=" + distinct(results, Result::netty));
      System.out.println("result.core=" + distinct(results, Result::core));
      System.out.println("result.version=" + distinct(results, Result::version));
    }
  }

  private static String distinct(
      List<Result> results, java.util.function.Function<Result, Object> of) {
    return results.stream()
        .map(of)
        .distinct()
        .map(String::valueOf)
        .collect(Collectors.joining(","));
  }
}
