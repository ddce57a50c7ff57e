package org.sparkcollectives.ml.testing;

import java.io.File;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.apache.spark.SparkContext;
import org.apache.spark.sql.SparkSession;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.api.extension.ExtensionContext.Namespace;
import org.junit.jupiter.api.extension.ParameterContext;
import org.junit.jupiter.api.extension.ParameterResolver;

/**
 * Gives tests a session on two executors of one core, each a process of its own. All classes of the
 * JVM share it, because its start takes longer than most tests; it stops after the last of them.
 *
 * <pre>{@code
 * @ExtendWith(LocalCluster.class)
 * class SomethingTest {
 *   SomethingTest(SparkSession spark) { … }
 * }
 * }</pre>
 */
public final class LocalCluster implements ParameterResolver {

  /** How many ranks fit at the same time. */
  public static final int SLOTS = 2;

  private static final Namespace NAMESPACE = Namespace.create(LocalCluster.class);

  @Override
  public boolean supportsParameter(ParameterContext parameter, ExtensionContext test) {
    return parameter.getParameter().getType() == SparkSession.class;
  }

  @Override
  public Object resolveParameter(ParameterContext parameter, ExtensionContext test) {
    SparkSession session =
        test.getRoot()
            .getStore(NAMESPACE)
            .getOrComputeIfAbsent(Running.class, key -> new Running(start()), Running.class)
            .session();
    awaitSlots(session.sparkContext());
    return session;
  }

  private static SparkSession start() {
    return SparkSession.builder()
        .appName("ml")
        .master("local-cluster[" + SLOTS + ",1,1024]")
        .config("spark.plugins", "org.sparkcollectives.spark.CollectivesPlugin")
        .config("spark.driver.host", "127.0.0.1")
        .config("spark.driver.bindAddress", "127.0.0.1")
        .config("spark.executor.extraClassPath", classPathOfExecutors())
        .config("spark.executor.extraJavaOptions", property("collectives.jvm.options"))
        .config("spark.collectives.preflight.timeout", "300s") // A lost executor starts anew.
        .config("spark.ui.enabled", "false")
        .config("spark.sql.shuffle.partitions", "2")
        .config("spark.sql.warehouse.dir", new File("target/warehouse").getAbsolutePath())
        .getOrCreate();
  }

  /** The test before may have killed an executor, and a fit would do with the other. */
  private static void awaitSlots(SparkContext context) {
    long deadline = System.nanoTime() + TimeUnit.MINUTES.toNanos(5);
    while (context.maxNumConcurrentTasks(context.resourceProfileManager().defaultResourceProfile())
        < SLOTS) {
      if (System.nanoTime() > deadline) {
        throw new IllegalStateException("The executors have not come within 5 minutes");
      }
      LockSupport.parkNanos(TimeUnit.MILLISECONDS.toNanos(50));
    }
  }

  /** Both jars as they are shipped, and the tests' own classes for what they run in tasks. */
  private static String classPathOfExecutors() {
    return Stream.concat(
            Stream.of(property("collectives.plugin.jar"), property("collectives.ml.jar")),
            List.of(new File("target/test-classes").getAbsolutePath()).stream())
        .collect(Collectors.joining(File.pathSeparator));
  }

  private static String property(String name) {
    String value = System.getProperty(name);
    if (value == null) {
      throw new IllegalStateException(name + " is not set; run the tests by `mvnw verify`");
    }
    return value;
  }

  private record Running(SparkSession session) implements AutoCloseable {
    @Override
    public void close() {
      session.stop();
    }
  }
}
