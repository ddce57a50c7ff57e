package org.sparkcollectives.examples.pages;

import java.io.IOException;
import java.nio.file.Files;
import java.util.Optional;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;

/** The versions that pages may name. */
final class ProjectVersion {

  private static final Pattern RELEASE = Pattern.compile("(?m)^## \\[(\\d+\\.\\d+\\.\\d+)]");

  private ProjectVersion() {}

  /** Returns the version of what is built from this tree. */
  static String ofTree() throws IOException {
    String pom = Files.readString(Sample.ROOT.resolve("pom.xml"));
    return pom.split("<version>", 2)[1].split("<", 2)[0];
  }

  /** Returns the newest release in the changelog, empty before the first. */
  static Optional<String> newestRelease() throws IOException {
    return RELEASE
        .matcher(Page.of("CHANGELOG.md").text())
        .results()
        .map((MatchResult heading) -> heading.group(1))
        .findFirst();
  }

  /** Returns the version that users are told to take: the newest release, or the first to come. */
  static String forUsers() throws IOException {
    return newestRelease().orElse(ofTree().replace("-SNAPSHOT", ""));
  }
}
