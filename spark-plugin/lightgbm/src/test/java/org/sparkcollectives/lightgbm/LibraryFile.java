package org.sparkcollectives.lightgbm;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;

/** LightGBM's library as a file. */
final class LibraryFile {

  private static final Path FILE = Path.of("target", "lib_lightgbm.so").toAbsolutePath();

  private LibraryFile() {}

  static synchronized String path() {
    if (!Files.exists(FILE)) {
      ClassLoader loader = LibraryFile.class.getClassLoader();
      try (InputStream packed = loader.getResourceAsStream(LightGbmLibrary.RESOURCE)) {
        Path part = Files.createTempFile(FILE.getParent(), "lib_lightgbm", ".so");
        Files.copy(packed, part, StandardCopyOption.REPLACE_EXISTING);
        Files.move(part, FILE, StandardCopyOption.ATOMIC_MOVE);
      } catch (IOException e) {
        throw new UncheckedIOException(e);
      }
    }
    return FILE.toString();
  }
}
