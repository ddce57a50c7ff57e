package org.sparkcollectives.examples.pages;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Tests that each table of measurements that names Gloo also names its transport, in the table or
 * in its section: Gloo has TCP only, even where the row is of our shared memory.
 */
class GlooTablesTest {

  private static final Path FEATURES = Path.of("docs/reference/features.md");

  private static final Pattern SAYS_TCP =
      Pattern.compile("gloo( |, | over |[^.]* over loopback )tcp", Pattern.CASE_INSENSITIVE);

  static Stream<Path> pages() throws IOException {
    return Sample.pages().stream().filter(page -> !page.equals(FEATURES));
  }

  @ParameterizedTest
  @MethodSource("pages")
  void aTableThatNamesGlooSaysItsTransport(Path page) throws IOException {
    StringBuilder section = new StringBuilder();
    List<String> silent = new ArrayList<>();
    for (String line : Page.of(page).text().lines().toList()) {
      if (line.startsWith("#")) {
        section.setLength(0);
      }
      if (line.startsWith("|") && line.contains("Gloo")) {
        String said = section + line;
        if (!SAYS_TCP.matcher(said).find()) {
          silent.add(line);
        }
      }
      section.append(line).append('\n');
    }
    assertThat(silent).isEmpty();
  }
}
