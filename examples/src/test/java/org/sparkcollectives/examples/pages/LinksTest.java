package org.sparkcollectives.examples.pages;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Follows the links between the pages, and to files. */
class LinksTest {

  static Stream<Page> pages() throws IOException {
    return Page.all().stream();
  }

  @ParameterizedTest
  @MethodSource("pages")
  void eachRelativeLinkLeadsToAFileAndAHeadingThatAreThere(Page page) throws IOException {
    assertThat(brokenLinks(page)).as("links of %s that lead nowhere", page).isEmpty();
  }

  @Test
  void aLinkToAMissingFileOrHeadingIsFound() throws IOException {
    Page page =
        new Page(
            Path.of("docs/operate/page.md"),
            """
            # A page
            [here](#a-page), [there](ui.md#json), [nowhere](#b-page), [gone](gone.md),
            [gone, too](ui.md#gone), [file](../../pom.xml), [folder](../../examples)
            ```sh
            [code](gone.sh)
            ```
            """);
    assertThat(brokenLinks(page)).containsExactly("#b-page", "gone.md", "ui.md#gone");
  }

  private static List<String> brokenLinks(Page page) throws IOException {
    List<String> broken = new ArrayList<>();
    for (String link : page.relativeLinks()) {
      String file = link.replaceAll("#.*", "");
      Path target = page.path().resolveSibling(file).normalize();
      boolean there = file.isEmpty() || Files.exists(Sample.ROOT.resolve(target));
      if (there && link.contains("#")) {
        Page other = file.isEmpty() ? page : Page.of(target);
        there = other.anchors().contains(link.substring(link.indexOf('#') + 1));
      }
      if (!there) {
        broken.add(link);
      }
    }
    return broken;
  }
}
