import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.Iterator;
import java.util.List;
import java.util.stream.IntStream;
import org.apache.spark.SparkConf;
import org.apache.spark.SparkEnv;
import org.apache.spark.TaskContext;
import org.apache.spark.api.java.JavaSparkContext;
import org.sparkcollectives.CollectiveException;
import org.sparkcollectives.GroupStatistics;
import org.sparkcollectives.ProcessGroup;
import org.sparkcollectives.ReduceOp;
import org.sparkcollectives.Tensor;
import org.sparkcollectives.net.TransportSecurity;
import org.sparkcollectives.spark.BarrierStage;
import org.sparkcollectives.spark.RankFunction;
import org.sparkcollectives.store.StoreException;
import org.sparkcollectives.store.TcpStore;

/**
 * Ranks in pods, which write what they see: lines of words between tabs. The arguments are what the
 * ranks do, and how many there are.
 */
public final class Ranks {

  /** Elements of an all-reduce that takes some milliseconds. */
  private static final int LARGE = 1 << 20;

  /** Above the size up to which a task's result goes to the driver within a message. */
  private static final int LARGE_RESULT_BYTES = 3 << 20;

  private Ranks() {}

  public static void main(String[] arguments) {
    int ranks = Integer.parseInt(arguments[1]);
    List<Integer> numbers = IntStream.rangeClosed(1, ranks).boxed().toList();
    try (JavaSparkContext context = new JavaSparkContext(new SparkConf())) {
      BarrierStage<Integer> stage = BarrierStage.of(context.parallelize(numbers, ranks));
      RankFunction<Integer, String> function =
          switch (arguments[0]) {
            case "exchange" -> (world, rows) -> exchange(world, rows.next());
            case "until-killed" -> (world, rows) -> reduceUntilKilled(world);
            case "until-killed-again" -> {
              stage = stage.withStageRetry();
              yield (world, rows) -> reduceUntilKilled(world);
            }
            default -> throw new IllegalArgumentException(arguments[0]);
          };
      stage.mapPartitions(function).collect().forEach(row -> say("RESULT", row));
      int results =
          context
              .parallelize(numbers, ranks)
              .map(each -> new byte[LARGE_RESULT_BYTES])
              .collect()
              .size();
      say("LARGE", results);
    }
  }

  private static synchronized void say(Object... words) {
    String[] texts = Arrays.stream(words).map(Object::toString).toArray(String[]::new);
    System.out.println(String.join("\t", texts));
  }

  private static String pod() {
    return System.getenv("SPARK_EXECUTOR_POD_NAME");
  }

  private static Iterator<String> exchange(ProcessGroup world, int number) throws IOException {
    double[] sum = {number};
    world.allReduce(Tensor.of(sum), ReduceOp.SUM).await();
    float[] large = new float[LARGE];
    Arrays.fill(large, number);
    world.allReduce(Tensor.of(large), ReduceOp.SUM).await();
    List<String> pods = world.objects().allGather(pod());
    GroupStatistics.Paths paths = world.statistics().paths();
    String plain = world.rank() == 0 ? knockInPlain() : "";
    world.barrier().await();
    return List.of(
            String.join(
                "\t",
                Integer.toString(world.rank()),
                pod(),
                sum[0] + " " + large[LARGE - 1],
                String.join(" ", pods),
                paths.heap() + " " + paths.sharedMemory() + " " + paths.tcp(),
                Files.readString(Path.of("/proc/sys/kernel/random/boot_id")).strip(),
                Boolean.toString(System.getenv("_SPARK_AUTH_SECRET") != null),
                plain))
        .iterator();
  }

  /** Returns what a client that does not encrypt is told, if the ranks have a known port. */
  private static String knockInPlain() {
    int port = SparkEnv.get().conf().getInt("spark.collectives.port", 0);
    if (port == 0) {
      return "";
    }
    String host = SparkEnv.get().blockManager().blockManagerId().host();
    byte[] secret = "any".getBytes(UTF_8);
    Duration limit = Duration.ofSeconds(30);
    try {
      TcpStore.connect(host, port, secret, TransportSecurity.plain(), limit).close();
      return "let in";
    } catch (StoreException e) {
      return e.getMessage().replaceAll("\\s+", " ");
    }
  }

  private static Iterator<String> reduceUntilKilled(ProcessGroup world) {
    boolean again = TaskContext.get().stageAttemptNumber() > 0;
    float[] values = new float[LARGE];
    try {
      for (int i = 0; i < (again ? 3 : Integer.MAX_VALUE); i++) {
        world.allReduce(Tensor.of(values), ReduceOp.SUM).await();
        if (i == 2 && !again) {
          say("REDUCING", world.rank(), SparkEnv.get().executorId(), pod());
        }
      }
    } catch (CollectiveException e) {
      say("FAILED", world.rank(), e.getMessage().replaceAll("\\s+", " "));
      throw e;
    }
    return List.of(world.rank() + "\t" + pod()).iterator();
  }
}
