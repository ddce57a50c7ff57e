package org.sparkcollectives.gpu.nccl;

import com.sun.jna.Function;
import com.sun.jna.Library;
import com.sun.jna.Native;
import com.sun.jna.NativeLibrary;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.sparkcollectives.gpu.GpuConfiguration;

/**
 * Finds libnccl and binds its functions.
 *
 * <p>It tries these paths, in this order: the path in {@code spark.collectives.gpu.nccl.library},
 * the path in the environment variable {@value #ENVIRONMENT}, {@code libnccl.so.2} on the path of
 * the dynamic linker, and the folders where conda and pip install it: the package {@code
 * nvidia-nccl}, or PyTorch's own copy.
 */
final class NcclLibrary {

  static final String ENVIRONMENT = "SPARK_COLLECTIVES_NCCL_LIBRARY";

  private static final String NAME = "libnccl.so.2";

  /** The oldest version that has all functions of {@link NcclFunctions}. */
  private static final int FLOOR = 22300;

  private static final int LAZY = 1;
  private static final int LOCAL = 0;

  private final NativeLibrary library;

  private NcclLibrary(NativeLibrary library) {
    this.library = library;
  }

  /**
   * Loads the first library that is found, and binds {@link NcclFunctions} to it.
   *
   * @param configured a path, or an empty text
   * @throws NcclException naming every path that was tried
   */
  static NcclLibrary load(String configured) {
    return load(paths(configured, System.getenv()));
  }

  /** Returns the paths to try, in their order. */
  static List<String> paths(String configured, Map<String, String> environment) {
    if (!configured.isEmpty()) {
      // A user who names a library does not want another.
      return List.of(configured);
    }
    String named = environment.getOrDefault(ENVIRONMENT, "");
    if (!named.isEmpty()) {
      return List.of(named);
    }
    List<String> paths = new ArrayList<>(List.of(NAME));
    librariesOfPython(environment)
        .flatMap(NcclLibrary::among)
        .filter(Files::exists)
        .map(Path::toString)
        .distinct()
        .forEach(paths::add);
    return paths;
  }

  /**
   * Returns the {@code lib} folders of Python environments: the active one, and that of the
   * workers.
   */
  private static Stream<Path> librariesOfPython(Map<String, String> environment) {
    List<Path> folders = new ArrayList<>();
    for (String variable : List.of("VIRTUAL_ENV", "CONDA_PREFIX")) {
      if (!environment.getOrDefault(variable, "").isEmpty()) {
        folders.add(Path.of(environment.get(variable), "lib"));
      }
    }
    Path python = Path.of(environment.getOrDefault("PYSPARK_PYTHON", ""));
    if (python.isAbsolute() && python.getNameCount() > 2) {
      folders.add(python.getParent().resolveSibling("lib"));
    }
    folders.add(Path.of(System.getProperty("user.home"), ".local", "lib"));
    for (String folder : List.of("/usr/local/lib", "/usr/lib", "/opt/conda/lib")) {
      folders.add(Path.of(folder));
    }
    return folders.stream();
  }

  /**
   * Returns the paths of NCCL below a {@code lib} folder: that of conda, and those of pip's
   * packages.
   */
  private static Stream<Path> among(Path lib) {
    if (!Files.isDirectory(lib)) {
      return Stream.of();
    }
    try (Stream<Path> folders = Files.list(lib)) {
      List<Path> paths = new ArrayList<>(List.of(lib.resolve(NAME)));
      folders
          .filter(folder -> folder.getFileName().toString().startsWith("python3"))
          .sorted()
          .flatMap(folder -> Stream.of("site-packages", "dist-packages").map(folder::resolve))
          .flatMap(packages -> Stream.of("nvidia/nccl/lib", "torch/lib").map(packages::resolve))
          .forEach(folder -> paths.add(folder.resolve(NAME)));
      return paths.stream();
    } catch (IOException e) {
      return Stream.of();
    }
  }

  static NcclLibrary load(List<String> paths) {
    List<String> tried = new ArrayList<>();
    for (String path : paths) {
      try {
        NativeLibrary library =
            NativeLibrary.getInstance(
                path,
                Map.of(
                    Library.OPTION_OPEN_FLAGS,
                    LAZY | LOCAL,
                    Library.OPTION_CLASSLOADER,
                    NcclLibrary.class.getClassLoader()));
        return bound(library, path);
      } catch (UnsatisfiedLinkError e) {
        tried.add(path + " (" + e.getMessage().lines().findFirst().orElse("") + ")");
      }
    }
    throw new NcclException(
        "NCCL cannot be loaded. Tried, in this order: "
            + String.join("; ", tried)
            + ". LD_LIBRARY_PATH is "
            + System.getenv("LD_LIBRARY_PATH")
            + ". Install libnccl2 2.23 or later, or name its file by "
            + GpuConfiguration.NCCL_LIBRARY.key()
            + " or the environment variable "
            + ENVIRONMENT,
        null);
  }

  private static NcclLibrary bound(NativeLibrary library, String path) {
    int[] version = new int[1];
    library.getFunction("ncclGetVersion").invokeInt(new Object[] {version});
    if (version[0] < FLOOR) {
      throw new NcclException(
          "NCCL "
              + text(version[0])
              + ", found as "
              + path
              + " at "
              + library.getFile()
              + ", is too old: "
              + text(FLOOR)
              + " is the oldest that can be used",
          null);
    }
    Native.register(NcclFunctions.class, library);
    return new NcclLibrary(library);
  }

  /** Returns a version as people write it. */
  static String text(int version) {
    if (version < 10000) {
      // The form up to 2.8.
      return version / 1000 + "." + version / 100 % 10 + "." + version % 100;
    }
    return version / 10000 + "." + version / 100 % 100 + "." + version % 100;
  }

  /** Binds functions that only newer versions have. Returns false if this version lacks them. */
  boolean bind(Class<?> functions) {
    try {
      Native.register(functions, library);
      return true;
    } catch (UnsatisfiedLinkError e) {
      return false;
    }
  }

  /** Returns a function that only newer versions have, or null if this version lacks it. */
  Function newer(String name) {
    try {
      return library.getFunction(name);
    } catch (UnsatisfiedLinkError e) {
      return null;
    }
  }

  @Override
  public String toString() {
    return String.valueOf(library.getFile());
  }
}
