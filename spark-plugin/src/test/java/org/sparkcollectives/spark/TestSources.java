package org.sparkcollectives.spark;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.sparkcollectives.testing.SourceTree;

/** The sources of all modules: their classes and their tests. */
final class TestSources {

  /**
   * Matches from an annotation to the declaration of the method, which is the next at its depth.
   */
  private static final String TEST_IN_JAVA =
      "\\n  @(?:Test|ParameterizedTest|RepeatedTest|TestFactory|Property)\\b"
          + "(?:(?!\\n  }\\n)[\\s\\S])*?"
          + "\\n  (?:public |default |final |static )*(?:void|[A-Z]\\w*(?:<[^\\n]*>)?) ";

  private static final Pattern TEST_IN_SCALA = Pattern.compile("\\btest\\(\"");
  private static final Pattern SUPERTYPES =
      Pattern.compile("\\b(?:class|interface) \\w+\\S*\\s+(?:extends|implements) ([^{]+)\\{");

  /** The text of each test class, by its simple name. */
  private final Map<String, String> tests = new HashMap<>();

  /** The full name of each class that is not a test, by its simple name. */
  private final Map<String, String> classes = new HashMap<>();

  /** Reads the sources of the project in {@code root}. */
  TestSources(Path root) {
    for (Path file : SourceTree.files(root)) {
      add(root.relativize(file).toString().replace('\\', '/'), file);
    }
  }

  private void add(String path, Path file) {
    Matcher source =
        Pattern.compile(".*\\bsrc/(main|test)/(?:java|scala)/(.+)\\.(?:java|scala)").matcher(path);
    if (!source.matches()) {
      return;
    }
    String name = source.group(2).replace('/', '.');
    String simple = name.substring(name.lastIndexOf('.') + 1);
    if (source.group(1).equals("test")) {
      tests.put(simple, read(file));
    } else {
      classes.put(simple, name);
    }
  }

  private static String read(Path file) {
    try {
      return Files.readString(file);
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Returns the full name of a class that is not a test; null if there is none. */
  String fullName(String simpleName) {
    return classes.get(simpleName);
  }

  /** Returns whether there is a test of this name: a class with tests, or one of its methods. */
  boolean has(String reference) {
    String[] parts = reference.split("#", 2);
    String text = tests.get(parts[0]);
    if (text == null) {
      return false;
    }
    boolean here =
        parts.length == 1
            ? TEST_IN_SCALA.matcher(text).find() || hasTest(text, "\\w+")
            : hasTest(text, Pattern.quote(parts[1]));
    Matcher supertypes = SUPERTYPES.matcher(text);
    return here
        || (supertypes.find()
            && Pattern.compile("\\W+")
                .splitAsStream(supertypes.group(1))
                .anyMatch(name -> has(parts.length == 1 ? name : name + "#" + parts[1])));
  }

  private static boolean hasTest(String text, String method) {
    return Pattern.compile(TEST_IN_JAVA + method + "\\(").matcher(text).find();
  }
}
