package org.sparkcollectives.spark;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.sparkcollectives.testing.SourceTree;

/**
 * Tests that no module starts a thread by itself: LibraryThreads makes each of them, with a name
 * and with a handler, so that an executor does not end with it.
 */
class ThreadsTest {

  private static final Path ROOT = Path.of("..");

  /** What makes a thread, or an executor that makes threads of its own. */
  private static final Pattern MAKES_THREADS =
      Pattern.compile(
          "new Thread\\(|\\bThread::new|extends Thread\\b|Thread\\.(ofPlatform|ofVirtual|startVirtual)"
              + "|concurrent\\.Executors\\b|new ForkJoinPool|new DefaultThreadFactory|new java\\.util\\.Timer"
              + "|import java\\.util\\.Timer|Cleaner\\.create|(run|supply)Async\\([^;,]*\\);"
              + "|\\.parallel\\(|parallelStream\\(");

  private static final Pattern POOL = Pattern.compile("new (Scheduled)?ThreadPoolExecutor\\(");

  @ParameterizedTest
  @ValueSource(
      strings = {
        "store",
        "collectives",
        "collectives/training",
        "collectives/djl",
        "gpu",
        "spark-plugin",
        "spark-plugin/ml",
        "spark-plugin/lightgbm"
      })
  void threadsAreMadeInOnePlace(String module) {
    List<Path> sources = sources(ROOT.resolve(module).resolve("src/main/java"));
    assertThat(sources).isNotEmpty();
    assertThat(sources)
        .filteredOn(source -> !source.endsWith("LibraryThreads.java"))
        .allSatisfy(
            source -> {
              String code = read(source);
              assertThat(MAKES_THREADS.matcher(code).results().map(each -> each.group()))
                  .as("threads of %s", source)
                  .isEmpty();
              if (POOL.matcher(code).find()) {
                assertThat(code).as("%s", source).contains("LibraryThreads.");
              }
            });
  }

  @Test
  void thePlaceIsLookedFor() {
    Path factory = ROOT.resolve("store/src/main/java/org/sparkcollectives/net/LibraryThreads.java");
    assertThat(MAKES_THREADS.matcher(read(factory)).results()).hasSize(2);
  }

  private static List<Path> sources(Path folder) {
    return SourceTree.files(folder).stream()
        .filter(each -> each.toString().endsWith(".java"))
        .toList();
  }

  private static String read(Path source) {
    try {
      return Files.readString(source);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }
}
