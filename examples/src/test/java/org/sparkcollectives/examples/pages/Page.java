package org.sparkcollectives.examples.pages;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;

/**
 * A page of Markdown.
 *
 * @param path its path below the root of the project
 * @param text what is in it
 */
record Page(Path path, String text) {

  private static final Pattern CODE = Pattern.compile("(?ms)^ *```.*?^ *```$|<!--.*?-->");
  private static final Pattern LINK = Pattern.compile("]\\(([^)\\s]+)\\)");
  private static final Pattern HEADING = Pattern.compile("(?m)^#+ +(.*?) *$");
  private static final Pattern LINK_TEXT = Pattern.compile("\\[([^]]*)]\\([^)]*\\)");

  static Page of(String path) throws IOException {
    return of(Path.of(path));
  }

  static Page of(Path path) throws IOException {
    return new Page(path, Files.readString(Sample.ROOT.resolve(path)));
  }

  /** Returns all pages of the project, also those that only contributors or GitHub read. */
  static List<Page> all() throws IOException {
    List<Path> paths = new ArrayList<>(Sample.pages());
    paths.add(Path.of("CHANGELOG.md"));
    paths.add(Path.of(".github/SECURITY.md"));
    paths.add(Path.of("python-shim/README.md"));
    paths.add(Path.of("examples/python/README.md"));
    paths.add(Path.of("examples/data/README.md"));
    List<Page> pages = new ArrayList<>();
    for (Path path : paths) {
      pages.add(of(path));
    }
    return pages;
  }

  private String prose() {
    return CODE.matcher(text).replaceAll("");
  }

  /** Returns the links that lead to files or headings of the project. */
  List<String> relativeLinks() {
    return LINK.matcher(prose())
        .results()
        .map(link -> link.group(1))
        .filter(link -> !link.matches("\\w+:.*"))
        .toList();
  }

  /** Returns what GitHub and the site call the headings in links. */
  List<String> anchors() {
    Map<String, Integer> seen = new HashMap<>();
    List<String> anchors = new ArrayList<>();
    for (MatchResult heading : HEADING.matcher(prose()).results().toList()) {
      String title = LINK_TEXT.matcher(heading.group(1)).replaceAll("$1");
      String anchor = title.toLowerCase(Locale.ROOT).replaceAll("[^\\w\\- ]", "").replace(' ', '-');
      int times = seen.merge(anchor, 1, Integer::sum);
      anchors.add(times == 1 ? anchor : anchor + "-" + (times - 1));
    }
    return anchors;
  }

  @Override
  public String toString() {
    return path.toString();
  }
}
