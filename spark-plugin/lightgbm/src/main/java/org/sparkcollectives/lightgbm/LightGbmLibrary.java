package org.sparkcollectives.lightgbm;

import com.sun.jna.Library;
import com.sun.jna.Native;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.HashMap;
import java.util.Map;

/**
 * LightGBM's library, which the user brings: a path, or the jar {@code
 * com.microsoft.ml.lightgbm:lightgbmlib} on the class path.
 */
final class LightGbmLibrary {

  /** The path of the library for Linux on x86-64 in the jar of lightgbmlib. */
  static final String RESOURCE = "com/microsoft/ml/lightgbm/linux/x86_64/lib_lightgbm.so";

  /**
   * {@code RTLD_NOW | RTLD_LOCAL}. JNA's own choice is {@code RTLD_GLOBAL}, and LightGBM exports
   * its C++ functions: a second LightGBM of the process, ours or another library's, would call
   * those of the first.
   */
  private static final int NOW_AND_LOCAL = 2;

  private static final Map<String, LightGbmLibrary> LOADED = new HashMap<>();

  private final LightGbmFunctions functions;

  private LightGbmLibrary(LightGbmFunctions functions) {
    this.functions = functions;
  }

  /**
   * Loads the library, once for each path.
   *
   * @param configured a path; an empty text for that of the jar
   * @throws LightGbmException if there is none, or it cannot be loaded
   */
  static LightGbmLibrary load(String configured) {
    synchronized (LOADED) {
      return LOADED.computeIfAbsent(configured, LightGbmLibrary::open);
    }
  }

  private static LightGbmLibrary open(String configured) {
    if (!configured.isEmpty()) {
      return new LightGbmLibrary(functions(configured, LightGbmFunctions.class));
    }
    ClassLoader loader = Thread.currentThread().getContextClassLoader();
    try (InputStream packed = loader.getResourceAsStream(RESOURCE)) {
      if (packed == null) {
        throw new LightGbmException(
            "There is no LightGBM on this machine's class path (no resource "
                + RESOURCE
                + "): add com.microsoft.ml.lightgbm:lightgbmlib to spark.jars.packages, or name a"
                + " lib_lightgbm.so that every executor has by LightGbm.withLibrary");
      }
      Path file = Files.createTempFile("lib_lightgbm", ".so");
      try {
        Files.copy(packed, file, StandardCopyOption.REPLACE_EXISTING);
        return new LightGbmLibrary(functions(file.toString(), LightGbmFunctions.class));
      } finally {
        Files.deleteIfExists(file); // The process has mapped it.
      }
    } catch (IOException e) {
      throw new UncheckedIOException("LightGBM could not be unpacked", e);
    }
  }

  static <T extends Library> T functions(String path, Class<T> functions) {
    try {
      return Native.load(path, functions, Map.of(Library.OPTION_OPEN_FLAGS, NOW_AND_LOCAL));
    } catch (UnsatisfiedLinkError e) {
      throw new LightGbmException(
          "LightGBM's library " + path + " cannot be loaded: " + e.getMessage(), e);
    }
  }

  LightGbmFunctions functions() {
    return functions;
  }

  /**
   * Checks what a function returned.
   *
   * @throws LightGbmException with LightGBM's own message, if it failed
   */
  void check(int status) {
    if (status != 0) {
      throw new LightGbmException("LightGBM failed: " + functions.LGBM_GetLastError());
    }
  }
}
