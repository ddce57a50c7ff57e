package org.sparkcollectives.examples.pages;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Path;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Tests that a reader learns from the first line of a page whom it is for. */
class AudienceTest {

  static Stream<Path> pages() throws IOException {
    return Sample.pages().stream().filter(page -> page.startsWith("docs"));
  }

  @ParameterizedTest
  @MethodSource("pages")
  void aPageBeginsWithWhomItIsFor(Path page) throws IOException {
    String first =
        Page.of(page)
            .text()
            .lines()
            .filter(line -> !line.isBlank() && !line.startsWith("#") && !line.startsWith("<!--"))
            .findFirst()
            .orElseThrow();
    assertThat(first).startsWith("For ");
  }
}
