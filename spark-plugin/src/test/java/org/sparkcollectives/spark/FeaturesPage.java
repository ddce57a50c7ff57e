package org.sparkcollectives.spark;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Parses the page that says which of c10d's features are here. */
final class FeaturesPage {

  static final String BEGIN = "<!-- generated: counts -->\n";
  static final String END = "<!-- end of generated -->";

  /** The extent to which a feature is here. */
  enum State {
    WORKS("works"),
    DIFFERS("differs"),
    NOT_THERE_YET("not there yet");

    private final String text;

    State(String text) {
      this.text = text;
    }

    /** Returns whether users can use the feature, so that a test must show it. */
    boolean isThere() {
      return this == WORKS || this == DIFFERS;
    }
  }

  /**
   * One feature.
   *
   * @param group the heading of the second level that it is under
   * @param feature its name in c10d
   * @param names its names here
   * @param reason how it differs; may be empty
   * @param python its names in the Python package
   * @param tests {@code Class} or {@code Class#method}
   */
  record Row(
      String group,
      String feature,
      List<String> names,
      State state,
      String reason,
      List<String> python,
      List<String> tests) {}

  private static final Pattern STATE = Pattern.compile("\\*\\*(.+?)\\*\\*(?:[:;] (.+))?");
  private static final String PYTHON_TESTS = "Python tests: ";
  private static final Pattern CODE = Pattern.compile("`([^`]+)`");

  private final List<Row> rows = new ArrayList<>();
  private final List<String> pythonTests = new ArrayList<>();

  /** Parses the page. */
  FeaturesPage(String page) {
    String group = "";
    for (String line : page.substring(page.indexOf(END)).lines().toList()) {
      if (line.startsWith("## ")) {
        group = line.substring(3);
      } else if (line.startsWith("| ") && !line.startsWith("| c10d |")) {
        rows.add(row(group, line));
      } else if (line.startsWith(PYTHON_TESTS)) {
        pythonTests.addAll(codes(line));
      }
    }
  }

  private static Row row(String group, String line) {
    List<String> cells =
        Arrays.stream(line.split("\\|", -1)).map(String::strip).toList().subList(1, 6);
    Matcher matcher = STATE.matcher(cells.get(2));
    if (!matcher.matches()) {
      throw new IllegalArgumentException("No state that is known: " + line);
    }
    return new Row(
        group,
        cells.get(0),
        codes(cells.get(1)),
        state(matcher.group(1), line),
        matcher.group(2) == null ? "" : matcher.group(2),
        codes(cells.get(3)),
        codes(cells.get(4)));
  }

  private static State state(String text, String line) {
    for (State state : State.values()) {
      if (state.text.equals(text)) {
        return state;
      }
    }
    throw new IllegalArgumentException("No state that is known: " + line);
  }

  private static List<String> codes(String cell) {
    return CODE.matcher(cell).results().map(each -> each.group(1)).toList();
  }

  List<Row> rows() {
    return rows;
  }

  /** The files of the Python package's tests that show what is in its column. */
  List<String> pythonTests() {
    return pythonTests;
  }

  /** Returns a table of the number of rows of each group in each state. */
  private String counts() {
    Map<String, int[]> counts = new LinkedHashMap<>();
    int[] all = new int[State.values().length];
    for (Row row : rows) {
      counts.computeIfAbsent(row.group, group -> new int[all.length])[row.state.ordinal()]++;
      all[row.state.ordinal()]++;
    }
    counts.put("all", all);
    StringBuilder text = new StringBuilder("|");
    for (State state : State.values()) {
      text.append(" | ").append(state.text);
    }
    text.append(" |\n|---").append("|---:".repeat(all.length)).append("|\n");
    counts.forEach(
        (group, numbers) -> {
          text.append("| ").append(group);
          for (int number : numbers) {
            text.append(" | ").append(number);
          }
          text.append(" |\n");
        });
    return text.toString();
  }

  /** Returns the page with the current counts. */
  static String withCounts(String page) {
    int begin = page.indexOf(BEGIN) + BEGIN.length();
    return page.substring(0, begin)
        + new FeaturesPage(page).counts()
        + page.substring(page.indexOf(END));
  }
}
