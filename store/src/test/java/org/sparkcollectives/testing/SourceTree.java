package org.sparkcollectives.testing;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.FileVisitResult;
import java.nio.file.Files;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.nio.file.SimpleFileVisitor;
import java.nio.file.attribute.BasicFileAttributes;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;

/**
 * The files of the project that a person has written. Other modules of the same build write and
 * delete files meanwhile, so their folders are not entered, and what goes during the walk is not
 * there.
 */
public final class SourceTree {

  private static final Set<String> MADE_BY_BUILDS =
      Set.of(
          "target",
          "node_modules",
          "__pycache__",
          "spark-warehouse",
          ".git",
          ".mypy_cache",
          ".pytest_cache",
          ".ruff_cache");

  private SourceTree() {}

  /** Returns the files below {@code root}, without those that builds make. */
  public static List<Path> files(Path root) {
    List<Path> files = new ArrayList<>();
    try {
      Files.walkFileTree(
          root,
          new SimpleFileVisitor<>() {
            @Override
            public FileVisitResult preVisitDirectory(Path folder, BasicFileAttributes attributes) {
              return MADE_BY_BUILDS.contains(folder.getFileName().toString())
                  ? FileVisitResult.SKIP_SUBTREE
                  : FileVisitResult.CONTINUE;
            }

            @Override
            public FileVisitResult visitFile(Path file, BasicFileAttributes attributes) {
              files.add(file);
              return FileVisitResult.CONTINUE;
            }

            @Override
            public FileVisitResult visitFileFailed(Path file, IOException e) throws IOException {
              if (e instanceof NoSuchFileException && !file.equals(root)) {
                return FileVisitResult.CONTINUE;
              }
              throw e;
            }
          });
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return files;
  }
}
