package org.sparkcollectives.examples.pages;

import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * One command of a shell sample.
 *
 * @param sample where it stands
 * @param words the program and its arguments, without quotes
 */
record ShellCommand(Sample sample, List<String> words) {

  private static final Pattern WORD = Pattern.compile("(?:[^\\s'\"]|\"[^\"]*\"|'[^']*')+");

  /**
   * Returns the commands of a sample: one per line, where a backslash at the end continues the
   * line.
   */
  static List<ShellCommand> of(Sample sample) {
    List<ShellCommand> commands = new ArrayList<>();
    for (String line : sample.text().replaceAll("\\\\\\n\\s*", "").lines().toList()) {
      List<String> words = words(line.replaceAll("(^|\\s)#.*", ""));
      if (!words.isEmpty()) {
        commands.add(new ShellCommand(sample, words));
      }
    }
    return commands;
  }

  private static List<String> words(String line) {
    List<String> words = new ArrayList<>();
    Matcher word = WORD.matcher(line);
    while (word.find()) {
      words.add(word.group().replaceAll("[\"']", ""));
    }
    return words;
  }

  String program() {
    return words.get(0);
  }

  List<String> arguments() {
    return words.subList(1, words.size());
  }

  /** Returns the values of an option that is given as {@code NAME VALUE} or {@code NAME=VALUE}. */
  List<String> option(String name) {
    List<String> values = new ArrayList<>();
    for (int i = 1; i < words.size(); i++) {
      String word = words.get(i);
      if (word.equals(name) && i + 1 < words.size()) {
        values.add(words.get(i + 1));
      } else if (word.startsWith(name + "=")) {
        values.add(word.substring(name.length() + 1));
      }
    }
    return values;
  }

  @Override
  public String toString() {
    return sample.page() + ": " + String.join(" ", words);
  }
}
