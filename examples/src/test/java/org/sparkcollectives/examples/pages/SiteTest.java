package org.sparkcollectives.examples.pages;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.sparkcollectives.testing.SourceTree;

/** Tests the navigation of the documentation's site, which {@code docs/site/build} makes. */
class SiteTest {

  private static final Path SITE = Sample.ROOT.resolve("docs/site");
  private static final Pattern ENTRY = Pattern.compile("(?m)^ +- [^:\\n]+: (\\S+\\.md)$");
  private static final Pattern MOVED = Pattern.compile("(?m)^    (\\S+\\.md): (\\S+\\.md)$");
  private static final Pattern ADDED = Pattern.compile("(?m)^    \"(\\S+\\.md)\": \"(\\S+)\",$");

  private static List<MatchResult> matches(Pattern pattern, String file) throws IOException {
    return pattern.matcher(Files.readString(SITE.resolve(file))).results().toList();
  }

  @Test
  void theNavigationHasEachPageOnce() throws IOException {
    List<String> added = new ArrayList<>();
    for (MatchResult page : matches(ADDED, "pages.py")) {
      added.add(page.group(1));
      assertThat(Sample.ROOT.resolve(page.group(2))).exists();
    }
    assertThat(added).containsExactly("overview.md", "contributing.md", "changelog.md");
    List<String> pages =
        SourceTree.files(SITE.getParent()).stream()
            .map(file -> SITE.getParent().relativize(file).toString().replace('\\', '/'))
            .filter(name -> name.endsWith(".md"))
            .toList();
    assertThat(matches(ENTRY, "mkdocs.yml"))
        .extracting(entry -> entry.group(1))
        .as("the pages under nav in docs/site/mkdocs.yml")
        .containsExactlyInAnyOrderElementsOf(
            Stream.concat(pages.stream(), added.stream()).toList());
  }

  @Test
  void eachAddressOfBeforeLeadsToAPage() throws IOException {
    List<MatchResult> moved = matches(MOVED, "mkdocs.yml");
    assertThat(moved).hasSizeGreaterThan(20);
    for (MatchResult page : moved) {
      String line = page.group().strip();
      assertThat(SITE.resolveSibling(page.group(1))).as("%s", line).doesNotExist();
      assertThat(SITE.resolveSibling(page.group(2))).as("%s", line).exists();
    }
  }
}
