package org.sparkcollectives.gpu.testing;

import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/**
 * The fake of libcuda and libnccl in C, see {@code src/test/c/README.md}. Built once for a JVM that
 * needs it.
 */
public final class FakeLibraries {

  /** The built libraries, by the version of NCCL that they have. */
  private static final Map<Integer, Path> BUILT = new HashMap<>();

  private static final int NEWEST = 22809;

  private FakeLibraries() {}

  /**
   * Returns the environment that a JVM needs to use the fake; more settings may be added.
   *
   * <p>Skips the test if there is no C compiler.
   */
  public static Map<String, String> environment() throws Exception {
    return environment(Path.of(""), NEWEST);
  }

  /**
   * Returns the environment for a fake of another version of NCCL, with the functions of that
   * version.
   *
   * @param ncclVersion such as 22304 for 2.23.4
   */
  public static Map<String, String> environmentOfNccl(int ncclVersion) throws Exception {
    return environment(Path.of(""), ncclVersion);
  }

  /**
   * Returns the environment for the tests of another module.
   *
   * @param module the folder of the module gpu, where its sources are
   */
  public static Map<String, String> environment(Path module) throws Exception {
    return environment(module, NEWEST);
  }

  private static synchronized Map<String, String> environment(Path module, int ncclVersion)
      throws Exception {
    assumeTrue(
        isThere("gcc") && isThere("nm"),
        "The fake of CUDA and NCCL cannot be built: there is no gcc or no nm on the PATH");
    if (!BUILT.containsKey(ncclVersion)) {
      BUILT.put(
          ncclVersion,
          build(
              module.resolve(Path.of("src", "test", "c", "build.sh")).toAbsolutePath(),
              Path.of("target", "fake-gpu", String.valueOf(ncclVersion)).toAbsolutePath(),
              ncclVersion));
    }
    return Map.of("LD_LIBRARY_PATH", BUILT.get(ncclVersion).toString());
  }

  private static boolean isThere(String program) throws InterruptedException {
    try {
      Process process =
          new ProcessBuilder(program, "--version")
              .redirectErrorStream(true)
              .redirectOutput(ProcessBuilder.Redirect.DISCARD)
              .start();
      return process.waitFor() == 0;
    } catch (IOException e) {
      return false;
    }
  }

  private static Path build(Path script, Path folder, int ncclVersion) throws Exception {
    Files.createDirectories(folder);
    Path binding = Files.createTempFile(folder, "jcuda", ".so");
    try (InputStream library =
        FakeLibraries.class.getResourceAsStream("/lib/libJCudaDriver-12.6.0-linux-x86_64.so")) {
      Files.write(binding, library.readAllBytes());
      Path log = folder.resolve("build.log");
      ProcessBuilder builder =
          new ProcessBuilder(List.of(script.toString(), folder.toString(), binding.toString()))
              .redirectErrorStream(true)
              .redirectOutput(log.toFile());
      builder.environment().put("NCCL_FAKE_VERSION", String.valueOf(ncclVersion));
      Process process = builder.start();
      if (!process.waitFor(120, TimeUnit.SECONDS) || process.exitValue() != 0) {
        process.destroyForcibly();
        throw new AssertionError("build.sh failed: " + Files.readString(log));
      }
    } finally {
      Files.deleteIfExists(binding);
    }
    return folder;
  }
}
