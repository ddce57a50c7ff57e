package org.sparkcollectives.internal.algorithm;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** Reads what each algorithm does, its steps and what it sends from the Javadoc of its class. */
final class AlgorithmSources {

  private static final Path SOURCES =
      Path.of("src/main/java/org/sparkcollectives/internal/algorithm");
  private static final Pattern JAVADOC = Pattern.compile("/\\*\\*(.*?)\\*/", Pattern.DOTALL);
  private static final Pattern END_OF_SENTENCE = Pattern.compile("(?<=\\.)\\s+(?=[A-Z])");
  private static final Pattern TAG = Pattern.compile("\\{@(?:link|code)\\s+([^}]*)}");

  private AlgorithmSources() {}

  /** A row for each class with a cost line, in the order of their names. */
  static String table() throws IOException {
    StringBuilder table = new StringBuilder("| algorithm | what it does | cost |\n|---|---|---|\n");
    try (Stream<Path> files = Files.list(SOURCES)) {
      files.sorted().map(AlgorithmSources::row).flatMap(Optional::stream).forEach(table::append);
    }
    return table.toString();
  }

  /** The row of a source file; empty where it has no cost line. */
  static Optional<String> row(Path file) {
    String source;
    try {
      source = Files.readString(file);
    } catch (IOException e) {
      throw new AssertionError(e);
    }
    Matcher javadoc = JAVADOC.matcher(source);
    if (!javadoc.find()) {
      return Optional.empty();
    }
    String[] paragraphs =
        javadoc.group(1).replaceAll("\\s*\\n[ \\t]*\\*[ \\t]?", " ").split("<p>", -1);
    for (String paragraph : paragraphs) {
      if (paragraph.strip().startsWith("Steps:")) {
        String name = file.getFileName().toString().replace(".java", "");
        return Optional.of(
            "| `" + name + "` | " + summary(paragraphs[0]) + " | " + sent(paragraph) + " |\n");
      }
    }
    return Optional.empty();
  }

  private static String summary(String paragraph) {
    return END_OF_SENTENCE.splitAsStream(markdown(paragraph)).findFirst().orElseThrow();
  }

  /** Steps and bytes of messages between all ranks; other algorithms cost what their phases do. */
  private static String sent(String cost) {
    if (!cost.contains("Bytes sent by ")) {
      return "";
    }
    return END_OF_SENTENCE
        .splitAsStream(markdown(cost))
        .filter(sentence -> sentence.startsWith("Steps:") || sentence.startsWith("Bytes sent"))
        .collect(Collectors.joining(" "));
  }

  private static String markdown(String text) {
    return TAG.matcher(text.strip()).replaceAll("`$1`");
  }
}
