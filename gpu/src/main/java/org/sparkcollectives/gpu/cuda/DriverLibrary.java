package org.sparkcollectives.gpu.cuda;

import java.io.IOException;
import java.io.InputStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;

/**
 * Loads the native part of the bindings of the CUDA driver.
 *
 * <p>The bindings would unpack it into the temporary folder, under a name that is the same for all
 * processes of a host, and not atomically: a second executor may find half of it. So it is unpacked
 * here into a folder that nobody else knows, which is the temporary folder of the process while the
 * bindings load. Each class loader has its own folder, because the JVM refuses to load one file for
 * two class loaders.
 */
final class DriverLibrary {

  private static final String FILE = "libJCudaDriver-12.6.0-linux-x86_64.so";
  private static final String TEMPORARY = "java.io.tmpdir";

  private DriverLibrary() {}

  /**
   * Loads the library.
   *
   * @throws CudaException naming the library and the folders that were searched
   */
  static synchronized void load() {
    try {
      Path folder =
          Files.createTempDirectory(
              "collectives-cuda-",
              PosixFilePermissions.asFileAttribute(PosixFilePermissions.fromString("rwx------")));
      Path file = folder.resolve(FILE);
      try {
        unpack(file);
        loadFrom(folder);
      } finally {
        // The process has mapped the file: its name is no longer needed.
        Files.deleteIfExists(file);
        Files.deleteIfExists(folder);
      }
    } catch (IOException e) {
      throw new CudaException(
          "The native library of JCuda cannot be unpacked to "
              + System.getProperty(TEMPORARY)
              + ": "
              + e,
          e);
    }
  }

  private static void unpack(Path file) throws IOException {
    try (InputStream library = DriverLibrary.class.getResourceAsStream("/lib/" + FILE)) {
      if (library == null) {
        throw new CudaException(
            "The class path has no /lib/"
                + FILE
                + ": it comes with jcuda-natives-12.6.0-linux-x86_64.jar, and there is none for"
                + " other platforms",
            null);
      }
      Files.copy(library, file);
    }
  }

  private static void loadFrom(Path folder) {
    String before = System.getProperty(TEMPORARY);
    System.setProperty(TEMPORARY, folder.toString());
    try {
      Class.forName("jcuda.driver.JCudaDriver", true, DriverLibrary.class.getClassLoader());
    } catch (ClassNotFoundException | LinkageError e) {
      throw new CudaException(
          "The CUDA driver cannot be used: libcuda.so.1 is not in a folder of LD_LIBRARY_PATH ("
              + System.getenv("LD_LIBRARY_PATH")
              + "), nor at another path of the dynamic linker (ldconfig -p). It comes with NVIDIA's"
              + " driver; in a container, with the NVIDIA Container Toolkit. Cause: "
              + firstLine(e),
          e);
    } finally {
      System.setProperty(TEMPORARY, before);
    }
  }

  private static String firstLine(Throwable thrown) {
    return thrown.toString().lines().findFirst().orElse("");
  }
}
