package org.sparkcollectives.spark;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import java.util.regex.Pattern;
import org.sparkcollectives.testing.SourceTree;

/** The sources of the Python package: its functions and classes, and its files of tests. */
final class PythonSources {

  private final Map<String, String> modules = new HashMap<>();
  private final Path tests;

  /** Reads the package in {@code root}. */
  PythonSources(Path root) throws IOException {
    tests = root.resolve("tests");
    for (Path file : SourceTree.files(root.resolve("src"))) {
      if (file.toString().endsWith(".py")) {
        modules.put(file.toString(), Files.readString(file));
      }
    }
  }

  /**
   * Returns whether there is a function, class or constant {@code name}, a member {@code
   * Class.name}, or a file of tests {@code test_name}. A numpy type and the backend's name, in
   * quotes, count too.
   */
  boolean has(String name) {
    if (name.startsWith("test_")) {
      return Files.exists(tests.resolve(name + ".py"));
    }
    if (name.startsWith("\"") || name.startsWith("uint")) {
      return modules.values().stream().anyMatch(text -> text.contains(name.replace("\"", "")));
    }
    String[] parts = name.split("\\.", 2);
    String first = Pattern.quote(parts[0]);
    Pattern top =
        Pattern.compile(
            "(?m)^(?:def " + first + "\\(|class " + first + "\\b|" + first + "\\b.* = )");
    return modules.values().stream()
        .filter(text -> top.matcher(text).find())
        .anyMatch(text -> parts.length == 1 || hasMember(text, parts[0], parts[1]));
  }

  private static boolean hasMember(String text, String type, String member) {
    String body =
        text.split("(?m)^class " + Pattern.quote(type) + "\\b", 2)[1].split("(?m)^(?=\\S)", 2)[0];
    return Pattern.compile("(?m)^ +(?:def |self\\.)?" + Pattern.quote(member) + "\\b")
        .matcher(body)
        .find();
  }
}
