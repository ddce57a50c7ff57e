package org.sparkcollectives.internal.algorithm;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import org.junit.jupiter.api.Test;

/**
 * Keeps the page on algorithms in step with the code. With {@code -Dcollectives.docs.update=true}
 * it writes the parts of the page that follow from the code instead.
 */
class AlgorithmsPageTest {

  private static final Path PAGE = Path.of("../docs/internals/algorithms.md");
  private static final String END = "<!-- end of generated -->";

  @Test
  void thePageShowsWhatTheCodeDoes() throws IOException {
    String expected = Files.readString(PAGE);
    for (Map.Entry<String, String> part : AlgorithmsPage.parts().entrySet()) {
      String begin = "<!-- generated: " + part.getKey() + " -->\n";
      assertThat(expected).contains(begin);
      int from = expected.indexOf(begin) + begin.length();
      int to = expected.indexOf(END, from);
      expected = expected.substring(0, from) + part.getValue() + expected.substring(to);
    }
    if (Boolean.getBoolean("collectives.docs.update")) {
      Files.writeString(PAGE, expected);
    }
    assertThat(Files.readString(PAGE))
        .as("%s; run the tests of collectives with -Dcollectives.docs.update=true", PAGE)
        .isEqualTo(expected);
  }
}
