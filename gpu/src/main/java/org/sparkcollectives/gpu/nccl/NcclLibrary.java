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
 * <p>Looked for in this order: the path that {@code spark.collectives.gpu.nccl.library} names, that
 * of the environment variable {@value #ENVIRONMENT}, {@code libnccl.so.2} where the dynamic linker
 * looks, and where pip puts the package {@code nvidia-nccl}.
 */
final class NcclLibrary {

  static final String ENVIRONMENT = "SPARK_COLLECTIVES_NCCL_LIBRARY";

  private static final String NAME = "libnccl.so.2";

  /** The oldest that has all functions of {@link NcclFunctions}. */
  private static final int FLOOR = 22300;

  private static final int LAZY = 1;
  private static final int LOCAL = 0;

  private final NativeLibrary library;

  private NcclLibrary(NativeLibrary library) {
    this.library = library;
  }

  /**
   * Loads the first that is found, and binds {@link NcclFunctions} to it.
   *
   * @param configured a path, or an empty text
   * @throws NcclException naming every place where it was looked for
   */
  static NcclLibrary load(String configured) {
    return load(places(configured, System.getenv(ENVIRONMENT)));
  }

  /** The places that are looked at, in their order. */
  static List<String> places(String configured, String environment) {
    List<String> places = new ArrayList<>();
    if (!configured.isEmpty()) {
      // Whoever names one does not want another.
      return List.of(configured);
    }
    if (environment != null && !environment.isEmpty()) {
      return List.of(environment);
    }
    places.add(NAME);
    places.addAll(inPackagesOfPython());
    return places;
  }

  private static List<String> inPackagesOfPython() {
    List<String> roots = new ArrayList<>(List.of("/usr/local/lib", "/usr/lib", "/opt/conda/lib"));
    for (String variable : List.of("VIRTUAL_ENV", "CONDA_PREFIX")) {
      String root = System.getenv(variable);
      if (root != null) {
        roots.add(0, root + "/lib");
      }
    }
    roots.add(System.getProperty("user.home") + "/.local/lib");
    return roots.stream().flatMap(root -> inPackagesBelow(Path.of(root))).toList();
  }

  private static Stream<String> inPackagesBelow(Path root) {
    if (!Files.isDirectory(root)) {
      return Stream.of();
    }
    try (Stream<Path> folders = Files.list(root)) {
      return folders
          .filter(folder -> folder.getFileName().toString().startsWith("python3"))
          .sorted()
          .flatMap(folder -> Stream.of("site-packages", "dist-packages").map(folder::resolve))
          .map(packages -> packages.resolve("nvidia/nccl/lib").resolve(NAME))
          .filter(Files::exists)
          .map(Path::toString)
          .toList()
          .stream();
    } catch (IOException e) {
      return Stream.of();
    }
  }

  static NcclLibrary load(List<String> places) {
    List<String> tried = new ArrayList<>();
    for (String place : places) {
      try {
        NativeLibrary library =
            NativeLibrary.getInstance(
                place,
                Map.of(
                    Library.OPTION_OPEN_FLAGS,
                    LAZY | LOCAL,
                    Library.OPTION_CLASSLOADER,
                    NcclLibrary.class.getClassLoader()));
        return bound(library, place);
      } catch (UnsatisfiedLinkError e) {
        tried.add(place + " (" + e.getMessage().lines().findFirst().orElse("") + ")");
      }
    }
    throw new NcclException(
        "NCCL cannot be loaded. Looked at, in this order: "
            + String.join("; ", tried)
            + ". LD_LIBRARY_PATH is "
            + System.getenv("LD_LIBRARY_PATH")
            + ". Install libnccl2 2.23 or later, or name its file by "
            + GpuConfiguration.NCCL_LIBRARY.key()
            + " or the environment variable "
            + ENVIRONMENT,
        null);
  }

  private static NcclLibrary bound(NativeLibrary library, String place) {
    int[] version = new int[1];
    library.getFunction("ncclGetVersion").invokeInt(new Object[] {version});
    if (version[0] < FLOOR) {
      throw new NcclException(
          "NCCL "
              + text(version[0])
              + ", found as "
              + place
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

  /** A version as people write it. */
  static String text(int version) {
    if (version < 10000) {
      // Up to 2.8.
      return version / 1000 + "." + version / 100 % 10 + "." + version % 100;
    }
    return version / 10000 + "." + version / 100 % 100 + "." + version % 100;
  }

  /** Binds functions that only newer versions have; false if this one has not. */
  boolean bind(Class<?> functions) {
    try {
      Native.register(functions, library);
      return true;
    } catch (UnsatisfiedLinkError e) {
      return false;
    }
  }

  /** A function that only newer versions have; null if this one has not. */
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
