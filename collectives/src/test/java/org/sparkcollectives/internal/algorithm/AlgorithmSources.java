package org.sparkcollectives.internal.algorithm;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** Reads what each algorithm does, its steps and what it sends from the Javadoc of its class. */
final class AlgorithmSources {

  private static final Path SOURCES =
      Path.of("src/main/java/org/sparkcollectives/internal/algorithm");

  /** Begins what is sent to any rank; what is sent between nodes is part of a phase. */
  private static final String SENT = "Bytes sent by ";

  private static final Pattern JAVADOC = Pattern.compile("/\\*\\*(.*?)\\*/", Pattern.DOTALL);
  private static final Pattern END_OF_SENTENCE = Pattern.compile("(?<=\\.)\\s+(?=[A-Z])");
  private static final Pattern TAG = Pattern.compile("\\{@(?:link|code)\\s+([^}]*)}");

  private AlgorithmSources() {}

  /**
   * A row for each class that sends messages between all ranks, and the names of the others, which
   * cost what their phases do; in the order of their names.
   */
  static String table() throws IOException {
    StringBuilder table = new StringBuilder("| algorithm | what it does | cost |\n|---|---|---|\n");
    List<String> others = new ArrayList<>();
    for (Path file : sources()) {
      String row = row(file).orElse("");
      if (row.contains(SENT)) {
        table.append(row);
      } else if (!row.isEmpty()) {
        others.add("`" + name(file) + "`");
      }
    }
    table.append("\nThe others: ").append(String.join(", ", others)).append(".\n");
    return table.toString();
  }

  private static String name(Path file) {
    return file.getFileName().toString().replace(".java", "");
  }

  private static List<Path> sources() throws IOException {
    try (Stream<Path> files = Files.list(SOURCES)) {
      return files.sorted().toList();
    }
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
        return Optional.of(
            "| `"
                + name(file)
                + "` | "
                + summary(paragraphs[0])
                + " | "
                + sent(paragraph)
                + " |\n");
      }
    }
    return Optional.empty();
  }

  private static String summary(String paragraph) {
    return END_OF_SENTENCE.splitAsStream(markdown(paragraph)).findFirst().orElseThrow();
  }

  /** Without what is moved in memory, and without scratch memory. */
  private static String sent(String cost) {
    return END_OF_SENTENCE
        .splitAsStream(markdown(cost))
        .filter(sentence -> sentence.startsWith("Steps:") || sentence.startsWith("Bytes sent"))
        .collect(Collectors.joining(" "));
  }

  private static String markdown(String text) {
    return TAG.matcher(text.strip()).replaceAll("`$1`");
  }
}
