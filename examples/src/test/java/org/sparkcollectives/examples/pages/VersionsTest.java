package org.sparkcollectives.examples.pages;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.util.List;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Compares the versions on the pages with the root POM and the changelog. A page names the version
 * of the newest release, and before the first one the version that it will have; or the version of
 * this tree, which ends with {@code -SNAPSHOT}, for what is built from it.
 */
class VersionsTest {

  private static final Pattern VERSION =
      Pattern.compile(
          "spark-collectives(?:-\\w+|_2\\.1\\d)?"
              + "(?:[:=]+|-|\" % \"|</artifactId>\\s*<version>)"
              + "(\\d+\\.\\d+\\.\\d+(?:-SNAPSHOT|\\.dev0)?)");

  private static final String INSTALL = "docs/get-started/install.md";

  private static List<String> versionsIn(String text) {
    return VERSION.matcher(text).results().map((MatchResult found) -> found.group(1)).toList();
  }

  static Stream<Page> pages() throws IOException {
    return Page.all().stream();
  }

  @ParameterizedTest
  @MethodSource("pages")
  void aPageNamesTheReleaseOrWhatIsBuiltFromThisTree(Page page) throws IOException {
    assertThat(versionsIn(page.text()))
        .as("versions in %s", page)
        .isSubsetOf(ProjectVersion.forUsers(), ProjectVersion.ofTree());
  }

  @Test
  void thePageOfInstallationNamesTheVersionForUsers() throws IOException {
    String page = Page.of(INSTALL).text();
    String section = page.split("(?m)^## Before the first release$", -1)[0];
    assertThat(versionsIn(section)).hasSize(4).containsOnly(ProjectVersion.forUsers());
  }

  @ParameterizedTest
  @MethodSource("builds")
  void aBuildFileOfAUserNamesTheLibrary(Sample sample) throws IOException {
    assertThat(versionsIn(sample.text())).as("%s", sample).containsOnly(ProjectVersion.forUsers());
    assertThat(sample.text()).contains("org.sparkcollectives", "spark-collectives_2.13");
  }

  static Stream<Sample> builds() throws IOException {
    return Sample.all().stream()
        .filter(sample -> List.of("xml", "sbt", "kotlin").contains(sample.language()));
  }

  @Test
  void thePagesSayThatNothingIsPublishedAsLongAsThatIsSo() throws IOException {
    boolean released = ProjectVersion.newestRelease().isPresent();
    for (Page page : Page.all()) {
      String words = page.text().replaceAll("\\s+", " ");
      if (released) {
        assertThat(words).as("%s", page).doesNotContain("published yet");
      }
    }
    assertThat(Page.of(INSTALL).text().contains("\n## Before the first release\n"))
        .as("a section says how to get what is not published yet")
        .isEqualTo(!released);
    assertThat(Page.of("README.md").text().contains("--jars spark-plugin/target/"))
        .as("the README uses the jar that was built as long as none is published")
        .isEqualTo(!released);
  }
}
