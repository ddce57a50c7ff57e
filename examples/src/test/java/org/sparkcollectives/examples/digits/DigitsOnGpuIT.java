package org.sparkcollectives.examples.digits;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.jna.Native;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Stream;
import jcuda.Pointer;
import org.apache.spark.deploy.SparkSubmit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.sparkcollectives.examples.digits.TrainingProgram.Run;
import org.sparkcollectives.gpu.GpuChoice;
import org.sparkcollectives.gpu.testing.FakeLibraries;
import org.sparkcollectives.spark.CollectivesPlugin;

/**
 * Submits the training with {@code --device gpu} as docs/guide/gpu.md says, on a machine whose two
 * GPUs are a fake of CUDA and NCCL.
 */
class DigitsOnGpuIT {

  private static final String BINDING = "/lib/libJCudaDriver-12.6.0-linux-x86_64.so";

  @TempDir private Path directory;

  @Test
  void gradientsAreAddedUpOnTheGpusThatSparkGivesToTheRanks() throws Exception {
    Map<String, String> settings = settings();
    FakeLibraries.environment(Path.of("..", "gpu"))
        .forEach((name, value) -> settings.put("spark.executorEnv." + name, value));
    settings.put("spark.executorEnv.FAKE_CUDA_DEVICES", "2");
    Run run = submit(settings, "--epochs=5");
    assertThat(run.status()).as(run.err()).isZero();
    assertThat(run.out()).startsWith("One hidden layer of 64 on 2 ranks");
    assertThat(run.testAccuracy()).isGreaterThanOrEqualTo(0.9);
  }

  @Test
  void whereNcclIsMissingTheErrorTellsWhereItWasLookedFor() throws Exception {
    Map<String, String> settings = settings();
    settings.put("spark.collectives.gpu.nccl.library", "/nowhere/libnccl.so.2");
    Run run = submit(settings, "--epochs=1");
    assertThat(run.status()).isNotZero();
    assertThat(run.err())
        .contains("NCCL cannot be loaded. Tried, in this order: /nowhere/libnccl.so.2");
  }

  /** Returns the settings of a host with two GPUs. */
  private Map<String, String> settings() throws IOException {
    String script = discoveryScript();
    Map<String, String> settings = new TreeMap<>();
    settings.put("spark.plugins", CollectivesPlugin.class.getName());
    settings.put("spark.ui.enabled", "false");
    settings.put("spark.executor.extraJavaOptions", String.join(" ", openedPackages()));
    for (String owner : List.of("spark.worker.", "spark.executor.")) {
      settings.put(owner + "resource.gpu.amount", "2");
      settings.put(owner + "resource.gpu.discoveryScript", script);
    }
    return settings;
  }

  private String discoveryScript() throws IOException {
    Path script = directory.resolve("gpus.sh");
    Files.writeString(
        script, "#!/bin/sh\necho '{\"name\": \"gpu\", \"addresses\": [\"0\", \"1\"]}'\n");
    Files.setPosixFilePermissions(script, PosixFilePermissions.fromString("rwx------"));
    return script.toString();
  }

  /** Returns the packages of the JDK that Spark's own scripts open; this JVM opens them, too. */
  private static List<String> openedPackages() {
    return ManagementFactory.getRuntimeMXBean().getInputArguments().stream()
        .filter(each -> each.startsWith("--add-opens"))
        .toList();
  }

  private Run submit(Map<String, String> settings, String option) throws Exception {
    Path home = Path.of("target", "spark").toAbsolutePath();
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.addAll(openedPackages());
    command.addAll(List.of("-cp", home.resolve("jars") + "/*", SparkSubmit.class.getName()));
    command.addAll(List.of("--master", "local-cluster[1,2,1024]"));
    command.addAll(List.of("--class", DigitsTraining.class.getName()));
    command.addAll(List.of("--jars", String.join(",", jars())));
    settings.forEach((key, value) -> command.addAll(List.of("--conf", key + "=" + value)));
    command.add(jar("target", "spark-collectives-examples-"));
    command.addAll(List.of("--data", Path.of("data", "digits.csv").toAbsolutePath().toString()));
    command.addAll(List.of("--device", "gpu", "--ranks", "2", "--no-compare", option));
    return TrainingProgram.run(
        directory,
        command,
        Map.of(
            "SPARK_HOME",
            home.toString(),
            "SPARK_SCALA_VERSION",
            "2.13",
            "SPARK_LOCAL_IP",
            "127.0.0.1"));
  }

  private static List<String> jars() throws Exception {
    List<String> jars =
        new ArrayList<>(List.of(jar("../spark-plugin/target", "spark-collectives_2.13-")));
    for (Class<?> each : List.of(GpuChoice.class, Pointer.class, Native.class)) {
      jars.add(
          Path.of(each.getProtectionDomain().getCodeSource().getLocation().toURI()).toString());
    }
    String natives = DigitsOnGpuIT.class.getResource(BINDING).getPath();
    jars.add(Path.of(URI.create(natives.split("!", 2)[0])).toString());
    return jars;
  }

  private static String jar(String folder, String name) throws IOException {
    try (Stream<Path> files = Files.list(Path.of(folder))) {
      return files
          .filter(
              each ->
                  each.getFileName()
                      .toString()
                      .matches(name + "[0-9].*(?<!tests|sources|javadoc)\\.jar"))
          .findFirst()
          .orElseThrow()
          .toAbsolutePath()
          .normalize()
          .toString();
    }
  }
}
