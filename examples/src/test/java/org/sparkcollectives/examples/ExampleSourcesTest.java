package org.sparkcollectives.examples;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.sparkcollectives.testing.SourceTree;

/**
 * Tests that the examples show what users can write: programs, notebooks and the samples of the
 * pages name no internal package of the library. ArchitectureTest does not see them, because they
 * need the plugin.
 */
class ExampleSourcesTest {

  private static final List<String> FOLDERS =
      List.of("src/main", "src/test/resources/samples", "notebooks", "python");

  private static final Pattern SOURCE = Pattern.compile(".*\\.(java|scala|py|ipynb|zpln)");

  /** Matches the name of an internal package, also within {@code import a.b.{internal => c}}. */
  private static final Pattern INTERNAL =
      Pattern.compile("\\bsparkcollectives\\b[^\\n\\\\;\"]*\\binternal\\b");

  private static Map<Path, String> sources() throws IOException {
    Map<Path, String> sources = new TreeMap<>();
    for (String folder : FOLDERS) {
      for (Path file : SourceTree.files(Path.of(folder))) {
        if (SOURCE.matcher(file.toString()).matches()) {
          sources.put(file, Files.readString(file));
        }
      }
    }
    return sources;
  }

  @Test
  void noExampleUsesInternalCode() throws IOException {
    List<String> found = new ArrayList<>();
    for (Map.Entry<Path, String> source : sources().entrySet()) {
      INTERNAL
          .matcher(source.getValue())
          .results()
          .forEach(match -> found.add(source.getKey() + ": " + match.group()));
    }
    assertThat(found).isEmpty();
  }

  @Test
  void programsNotebooksAndSamplesAreLookedAt() throws IOException {
    assertThat(sources().keySet())
        .extracting(file -> file.getFileName().toString())
        .contains(
            "DigitsTraining.java", "shell.scala", "digits.zpln", "digits.ipynb", "k_means.py");
  }

  @Test
  void internalPackagesAreRecognised() {
    assertThat(names("import org.sparkcollectives.spark.internal.driver.DriverStores;")).isTrue();
    assertThat(names("import org.sparkcollectives.{ReduceOp, internal => own}")).isTrue();
    assertThat(names("\"import org.sparkcollectives.ReduceOp\\n// not internal\"")).isFalse();
  }

  private static boolean names(String source) {
    return INTERNAL.matcher(source).find();
  }
}
