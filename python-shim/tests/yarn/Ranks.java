import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.time.Duration;
import java.util.Iterator;
import java.util.List;
import org.apache.spark.SparkConf;
import org.apache.spark.SparkEnv;
import org.apache.spark.TaskContext;
import org.apache.spark.api.java.JavaRDD;
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
 * Four ranks on YARN, which write what they see into files of a folder. The arguments are the
 * folder, and what the ranks do.
 */
public final class Ranks {

  private static final int RANKS = 4;
  private static final int VICTIM = 3;

  /** Elements of an all-reduce that takes some milliseconds. */
  private static final int LARGE = 1 << 20;

  private Ranks() {}

  public static void main(String[] arguments) {
    String folder = arguments[0];
    try (JavaSparkContext context = new JavaSparkContext(new SparkConf().setAppName("ranks"))) {
      JavaRDD<Integer> numbers = context.parallelize(List.of(1, 2, 3, 4), RANKS);
      BarrierStage<Integer> stage = BarrierStage.of(numbers);
      RankFunction<Integer, String> function =
          switch (arguments[1]) {
            case "exchange" -> (world, rows) -> exchange(world, rows.next());
            case "until killed" -> (world, rows) -> reduceUntilKilled(world, folder);
            case "until killed, again" -> {
              stage = stage.withStageRetry();
              yield (world, rows) -> reduceUntilKilled(world, folder);
            }
            default -> throw new IllegalArgumentException(arguments[1]);
          };
      write(folder, "results", String.join("\n", stage.mapPartitions(function).collect()));
    }
  }

  private static String container() {
    return System.getenv("CONTAINER_ID");
  }

  private static Iterator<String> exchange(ProcessGroup world, int number) {
    double[] sum = {number};
    world.allReduce(Tensor.of(sum), ReduceOp.SUM).await();
    List<String> containers = world.objects().allGather(container());
    GroupStatistics.Paths paths = world.statistics().paths();
    String plain = world.rank() == 0 ? knockInPlain() : "";
    world.barrier().await();
    return List.of(
            String.join(
                "\t",
                Integer.toString(world.rank()),
                container(),
                Double.toString(sum[0]),
                String.join(" ", containers),
                paths.heap() + " " + paths.sharedMemory() + " " + paths.tcp(),
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

  private static Iterator<String> reduceUntilKilled(ProcessGroup world, String folder) {
    boolean again = TaskContext.get().stageAttemptNumber() > 0;
    float[] values = new float[LARGE];
    try {
      for (int i = 0; i < (again ? 3 : Integer.MAX_VALUE); i++) {
        world.allReduce(Tensor.of(values), ReduceOp.SUM).await();
        if (i == 2 && !again && world.rank() == VICTIM) {
          long process = ProcessHandle.current().pid();
          write(folder, "victim", process + " " + SparkEnv.get().executorId() + " " + container());
        }
      }
    } catch (CollectiveException e) {
      write(folder, "failure-" + world.rank(), e.getMessage());
      throw e;
    }
    return List.of(world.rank() + "\t" + container()).iterator();
  }

  private static void write(String folder, String name, String text) {
    try {
      // In one step, because the tests read it as soon as it exists.
      Path written = Files.writeString(Path.of(folder, name + ".part"), text);
      Files.move(written, Path.of(folder, name), StandardCopyOption.ATOMIC_MOVE);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
