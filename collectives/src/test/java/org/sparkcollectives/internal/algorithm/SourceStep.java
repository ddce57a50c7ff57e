package org.sparkcollectives.internal.algorithm;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * A block of a page that shows a source file, or how one changes. The file is the last one that is
 * named above the block, by its path below the root of the project.
 *
 * @param isWhole whether the block is the file; else it is a diff without line numbers, whose parts
 *     begin with {@code @@}
 */
record SourceStep(Path file, boolean isWhole, String text) {

  private static final Pattern FILE = Pattern.compile("`([\\w/-]+\\.java)`");

  /** Returns the steps of a text, in their order. */
  static List<SourceStep> of(String page) {
    List<SourceStep> steps = new ArrayList<>();
    Path file = null;
    List<String> lines = page.lines().toList();
    for (int i = 0; i < lines.size(); i++) {
      Matcher name = FILE.matcher(lines.get(i));
      while (name.find()) {
        file = Path.of(name.group(1));
      }
      if (lines.get(i).startsWith("```") && lines.get(i).length() > 3) {
        String language = lines.get(i).substring(3);
        int begin = i + 1;
        for (i = begin; !lines.get(i).equals("```"); i++) {}
        if (language.equals("java") || language.equals("diff")) {
          String text = String.join("\n", lines.subList(begin, i)) + "\n";
          steps.add(new SourceStep(file, language.equals("java"), text));
        }
      }
    }
    return steps;
  }

  /** Carries out this step in a copy of the sources, and returns the file there. */
  Path apply(Path sources, Path copy) throws IOException {
    Path changed = copy.resolve(file);
    Files.createDirectories(changed.getParent());
    if (isWhole) {
      return Files.writeString(changed, text);
    }
    String content = Files.readString(Files.exists(changed) ? changed : sources.resolve(file));
    for (String part : text.split("(?m)^@@.*\n", -1)) {
      if (!part.isEmpty()) {
        content = replaceOnce(content, lines(part, '-'), lines(part, '+'));
      }
    }
    return Files.writeString(changed, content);
  }

  private static String lines(String part, char kind) {
    StringBuilder lines = new StringBuilder();
    for (String line : part.lines().toList()) {
      if (line.isEmpty() || line.charAt(0) == ' ' || line.charAt(0) == kind) {
        lines.append(line.isEmpty() ? "" : line.substring(1)).append('\n');
      }
    }
    return lines.toString();
  }

  private String replaceOnce(String content, String before, String after) {
    int at = content.indexOf(before);
    if (at < 0 || content.indexOf(before, at + 1) >= 0) {
      throw new AssertionError(
          "these lines of the page are to be found once in %s, but are %s:%n%s"
              .formatted(file, at < 0 ? "not there" : "there several times", before));
    }
    return content.substring(0, at) + after + content.substring(at + before.length());
  }
}
