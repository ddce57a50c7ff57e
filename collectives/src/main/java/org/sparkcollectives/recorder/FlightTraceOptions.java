package org.sparkcollectives.recorder;

import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import org.sparkcollectives.FlightDump;
import org.sparkcollectives.GroupStatus;
import org.sparkcollectives.RankLocation;
import org.sparkcollectives.config.NearestName;

/**
 * The options on the command line of {@link FlightTrace}, in the names of PyTorch's {@code
 * fr_trace}; a hyphen may stand for each underscore.
 *
 * @param folder with the dumps
 * @param trace where to write a trace for Perfetto or Chrome; null for none
 * @param selection which records are looked at
 * @param report what is printed
 * @param align whether the files for PyTorch's analyser are written again
 */
record FlightTraceOptions(
    Path folder, Path trace, Selection selection, Report report, boolean align) {

  /**
   * The selection of records.
   *
   * @param prefix what comes before the rank in the names of the dumps' files
   * @param ranks whose dumps alone are looked at; empty for all
   * @param groups texts, one of which is in the name or the description of a group that is looked
   *     at; empty for all groups
   */
  record Selection(String prefix, Set<Integer> ranks, List<String> groups) {

    /** Returns the selected dumps, with the selected groups. */
    List<FlightDump> of(List<FlightDump> dumps) {
      return dumps.stream()
          .filter(dump -> ranks.isEmpty() || ranks.contains(dump.rank()))
          .<FlightDump>map(
              dump ->
                  new RankDump(
                      new RankLocation(
                          dump.rank(), dump.host(), dump.executorId(), dump.taskAttemptId()),
                      dump.reason(),
                      dump.takenNanos(),
                      dump.groups().stream().filter(this::has).toList(),
                      dump.records()))
          .toList();
    }

    private boolean has(GroupStatus group) {
      return groups.isEmpty()
          || groups.stream()
              .anyMatch(text -> group.name().contains(text) || group.description().contains(text));
    }
  }

  /**
   * The contents of the report.
   *
   * @param entries whether the records are listed instead of analysed
   * @param verbose whether they are listed too
   * @param allowIncompleteRanks whether it is no finding that the dump of a rank is missing
   * @param mismatchCap how many mismatches of a group are shown
   */
  record Report(boolean entries, boolean verbose, boolean allowIncompleteRanks, int mismatchCap) {}

  private static final List<String> OPTIONS =
      List.of(
          "--output",
          "--prefix",
          "--selected-ranks",
          "--pg-filters",
          "--just-print-entries",
          "--verbose",
          "--allow-incomplete-ranks",
          "--mismatch-cap",
          "--align");

  static final String USAGE =
      """
      Usage: FlightTrace FOLDER [TRACE.json] [options]
        FOLDER                     with dump-*.json, one for each rank
        TRACE.json, -o FILE        write a trace for Perfetto or Chrome
        -p, --prefix PREFIX        the names of the dumps' files are PREFIX, the rank, .json
        --selected-ranks RANK...   look at the dumps of these ranks only
        --pg-filters TEXT...       look at groups only whose name or description has one of the texts
        -j, --just-print-entries   list the records instead of analysing them
        -v, --verbose              list the records too
        --allow-incomplete-ranks   do not name the ranks whose dumps are missing
        --mismatch-cap NUMBER      show so many mismatches of each group (1)
        --align                    write rank_N again, so that PyTorch's analyser begins where the
                                   records of all ranks do
      """;

  /**
   * Reads a command line.
   *
   * @throws IllegalArgumentException with the usage, if it is wrong
   */
  static FlightTraceOptions parse(String... arguments) {
    Deque<String> left = new ArrayDeque<>(List.of(arguments));
    List<String> files = new ArrayList<>();
    Path trace = null;
    String prefix = "dump-";
    Set<Integer> ranks = new TreeSet<>();
    List<String> groups = new ArrayList<>();
    boolean printEntries = false;
    boolean verbose = false;
    boolean allowIncomplete = false;
    int cap = 1;
    boolean align = false;
    while (!left.isEmpty()) {
      String argument = left.pop();
      switch (argument.startsWith("--") ? argument.replace('_', '-') : argument) {
        case "-o", "--output" -> trace = Path.of(value(argument, left));
        case "-p", "--prefix" -> prefix = value(argument, left);
        case "--selected-ranks" ->
            values(argument, left, files).forEach(each -> ranks.add(number(argument, each)));
        case "--pg-filters" -> groups.addAll(values(argument, left, files));
        case "-j", "--just-print-entries" -> printEntries = true;
        case "-v", "--verbose" -> verbose = true;
        case "--allow-incomplete-ranks" -> allowIncomplete = true;
        case "--mismatch-cap" -> cap = number(argument, value(argument, left));
        case "--align" -> align = true;
        case "--print-stack-trace" ->
            throw new IllegalArgumentException(
                "Records have no stack traces: to walk a stack for each operation would cost more"
                    + " than many an operation takes. The stack of a rank that does not arrive is"
                    + " in the exception of the others");
        default -> {
          if (argument.startsWith("-")) {
            throw wrong("There is no option " + argument, NearestName.question(argument, OPTIONS));
          }
          files.add(argument);
        }
      }
    }
    if (files.isEmpty() || files.size() > 2 || (files.size() == 2 && trace != null)) {
      throw wrong("Name one folder, and at most one file for a trace");
    }
    return new FlightTraceOptions(
        Path.of(files.get(0)),
        files.size() == 2 ? Path.of(files.get(1)) : trace,
        new Selection(prefix, ranks, List.copyOf(groups)),
        new Report(printEntries, verbose, allowIncomplete, cap),
        align);
  }

  /** Returns the values up to the next option; the folder should come before them. */
  private static List<String> values(String option, Deque<String> left, List<String> files) {
    List<String> values = new ArrayList<>();
    values.add(value(option, left));
    while (!left.isEmpty() && !left.peek().startsWith("-")) {
      values.add(left.pop());
    }
    if (files.isEmpty() && values.size() > 1) {
      throw wrong("Name the folder before " + option + ", which takes several values");
    }
    return values;
  }

  private static String value(String option, Deque<String> left) {
    if (left.isEmpty() || left.peek().startsWith("-")) {
      throw wrong(option + " takes a value");
    }
    return left.pop();
  }

  private static int number(String option, String text) {
    try {
      return Integer.parseUnsignedInt(text);
    } catch (NumberFormatException e) {
      throw wrong(option + " takes numbers, not " + text);
    }
  }

  private static IllegalArgumentException wrong(String what) {
    return wrong(what, "");
  }

  private static IllegalArgumentException wrong(String what, String question) {
    return new IllegalArgumentException(
        what + (question.isEmpty() ? "." : question) + "\n" + USAGE);
  }
}
