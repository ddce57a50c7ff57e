package org.sparkcollectives.spark;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.jna.Native;
import java.net.URI;
import java.net.URL;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import java.util.Map;
import jcuda.Pointer;
import org.apache.spark.SparkConf;
import org.apache.spark.TaskContext;
import org.apache.spark.api.java.JavaRDD;
import org.apache.spark.api.java.JavaSparkContext;
import org.apache.spark.resource.ResourceProfile;
import org.apache.spark.resource.ResourceProfileBuilder;
import org.apache.spark.resource.TaskResourceRequests;
import org.assertj.core.api.Assertions;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.sparkcollectives.ProcessGroup;
import org.sparkcollectives.gpu.cuda.CudaDevice;
import org.sparkcollectives.gpu.cuda.CudaStream;
import org.sparkcollectives.gpu.cuda.DriverCuda;
import org.sparkcollectives.gpu.testing.EveryCollective;
import org.sparkcollectives.gpu.testing.FakeLibraries;

/**
 * Tests ranks to which Spark assigns GPUs: a script discovers the GPUs of a machine, which the fake
 * of CUDA and NCCL simulates.
 */
final class GpuClusterTest {

  private static final int RANKS = 3;

  @TempDir private Path folder;

  /** Runs with GPUs for the tasks of all stages, or for those of the stage that requests them. */
  @ParameterizedTest
  @CsvSource({"nccl, false", "netty, true"})
  void everyCollectiveOnTheGpusThatSparkGivesToTheTasks(String backend, boolean byStage)
      throws Exception {
    SparkConf conf = conf(backend);
    if (!byStage) {
      conf.set("spark.task.resource.gpu.amount", "1");
    }
    try (JavaSparkContext spark = new JavaSparkContext(conf)) {
      JavaRDD<Integer> rows = spark.parallelize(List.of(0, 1, 2), RANKS);
      if (byStage) {
        rows = rows.withResources(profile());
      }
      List<String> gpus =
          BarrierStage.of(rows).mapPartitions(new GpuRank(backend.equals("netty"))).collect();
      assertThat(gpus).containsExactlyInAnyOrder("0", "1", "2");
    }
  }

  private static ResourceProfile profile() {
    return new ResourceProfileBuilder()
        .require(new TaskResourceRequests().cpus(1).resource("gpu", 1))
        .build();
  }

  private SparkConf conf(String backend) throws Exception {
    String script = discoveryScript();
    SparkConf conf =
        new SparkConf()
            .setMaster("local-cluster[1," + RANKS + ",1024]")
            .setAppName("GpuClusterTest")
            .set("spark.ui.enabled", "false")
            .set("spark.plugins", CollectivesPlugin.class.getName())
            // A busy machine takes long to start the executor.
            .set("spark.collectives.preflight.timeout", "2min")
            .set("spark.executor.extraJavaOptions", System.getProperty("collectives.jvm.options"))
            .set("spark.jars", String.join(",", jars()))
            .set("spark.worker.resource.gpu.amount", String.valueOf(RANKS))
            .set("spark.worker.resource.gpu.discoveryScript", script)
            .set("spark.executor.resource.gpu.amount", String.valueOf(RANKS))
            .set("spark.executor.resource.gpu.discoveryScript", script)
            .set("spark.collectives.backend", "cpu:netty,cuda:" + backend)
            .set("spark.executorEnv.FAKE_CUDA_DEVICES", String.valueOf(RANKS));
    Map<String, String> environment = FakeLibraries.environment(Path.of("..", "..", "gpu"));
    environment.forEach((name, value) -> conf.set("spark.executorEnv." + name, value));
    return conf;
  }

  private String discoveryScript() throws Exception {
    Path script = folder.resolve("gpus.sh");
    Files.writeString(
        script, "#!/bin/sh\necho '{\"name\": \"gpu\", \"addresses\": [\"0\", \"1\", \"2\"]}'\n");
    Files.setPosixFilePermissions(script, PosixFilePermissions.fromString("rwx------"));
    return script.toString();
  }

  /** Returns the jars that the executors need: the library, the tests, and their libraries. */
  private static List<String> jars() throws Exception {
    List<String> jars =
        new ArrayList<>(
            List.of(
                System.getProperty("collectives.plugin.jar"),
                System.getProperty("collectives.suite.jar")));
    for (Class<?> each :
        List.of(
            DriverCuda.class,
            EveryCollective.class,
            Pointer.class,
            Native.class,
            Assertions.class)) {
      jars.add(
          Path.of(each.getProtectionDomain().getCodeSource().getLocation().toURI()).toString());
    }
    URL natives = GpuClusterTest.class.getResource("/lib/libJCudaDriver-12.6.0-linux-x86_64.so");
    jars.add(Path.of(URI.create(natives.getPath().split("!", 2)[0])).toString());
    return jars;
  }

  /** Runs every collective on its task's GPU, and returns the GPU's address. */
  private record GpuRank(boolean byWayOfHost) implements RankFunction<Integer, String> {

    @Override
    public Iterator<String> call(ProcessGroup world, Iterator<Integer> rows) {
      String address = TaskContext.get().resourcesJMap().get("gpu").addresses()[0];
      try (CudaDevice device = CudaDevice.open(DriverCuda.load(), Integer.parseInt(address));
          CudaStream stream = CudaStream.create(device, false)) {
        CudaStream.Use use = stream.use();
        new EveryCollective(world, device, byWayOfHost).run();
        use.close();
      }
      return List.of(address).iterator();
    }
  }
}
