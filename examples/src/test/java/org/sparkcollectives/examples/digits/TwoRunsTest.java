package org.sparkcollectives.examples.digits;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.apache.spark.SparkConf;
import org.apache.spark.SparkEnv;
import org.apache.spark.api.java.JavaSparkContext;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.sparkcollectives.spark.SparkCollectives;
import org.sparkcollectives.testing.Eventually;
import picocli.CommandLine;
import scala.collection.JavaConverters;

/**
 * Tests that two runs leave nothing behind. Driver and ranks are in this one JVM, so everything
 * left behind can be seen here.
 */
@EnabledOnOs(OS.LINUX) // For the list of ports.
class TwoRunsTest {

  private static final String LISTENING = "0A";

  @Test
  void twoRunsInOneDriverLeaveNoThreadPortOrBlockBehind() {
    SparkConf conf =
        new SparkConf()
            .setAppName("two-runs")
            .setMaster("local[4]")
            .set("spark.driver.host", "127.0.0.1")
            .set("spark.driver.bindAddress", "127.0.0.1")
            .set("spark.ui.enabled", "false");
    Eventually.holds(() -> threads().isEmpty(), () -> "of earlier tests: " + threads());
    try (JavaSparkContext spark = new JavaSparkContext(conf)) {
      SparkCollectives.install(spark);
      Set<String> threads = threads();
      Set<String> ports = ports();
      assertThat(ports).as("Spark's own").isNotEmpty();
      for (int run = 0; run < 2; run++) {
        DigitsTraining program = new DigitsTraining();
        new CommandLine(program).parseArgs("--data=data/digits.csv", "--epochs=2");
        program.run(spark);
        Eventually.holds(() -> threads().equals(threads), () -> threads() + ", not " + threads);
        Eventually.holds(() -> ports().equals(ports), () -> ports() + ", not " + ports);
        Eventually.holds(() -> blocks().isEmpty(), () -> "no blocks, but " + blocks());
      }
    }
  }

  private static Set<String> threads() {
    return Thread.getAllStackTraces().keySet().stream()
        .map(Thread::getName)
        .filter(name -> name.startsWith("collectives-") || name.startsWith("digits-"))
        .collect(Collectors.toCollection(TreeSet::new));
  }

  /** Returns the ports on which this process listens. */
  private static Set<String> ports() {
    try (Stream<Path> descriptors = Files.list(Path.of("/proc/self/fd"));
        Stream<String> tcp = Files.lines(Path.of("/proc/self/net/tcp"));
        Stream<String> tcp6 = Files.lines(Path.of("/proc/self/net/tcp6"))) {
      Set<String> own = descriptors.map(TwoRunsTest::target).collect(Collectors.toSet());
      return Stream.concat(tcp, tcp6)
          .map(line -> line.trim().split("\\s+", -1))
          .filter(fields -> fields[3].equals(LISTENING))
          .filter(fields -> own.contains("socket:[" + fields[9] + "]"))
          .map(fields -> fields[1])
          .collect(Collectors.toCollection(TreeSet::new));
    } catch (IOException e) {
      throw new AssertionError(e);
    }
  }

  private static String target(Path descriptor) {
    try {
      return Files.readSymbolicLink(descriptor).toString();
    } catch (IOException e) {
      return ""; // Closed since it was listed.
    }
  }

  /** Returns the blocks that hold values of a store, or rows. */
  private static Set<String> blocks() {
    return JavaConverters.asJavaCollection(
            SparkEnv.get()
                .blockManager()
                .getMatchingBlockIds(
                    id -> id.name().contains("collectives") || id.name().startsWith("rdd_")))
        .stream()
        .map(Object::toString)
        .collect(Collectors.toCollection(TreeSet::new));
  }
}
