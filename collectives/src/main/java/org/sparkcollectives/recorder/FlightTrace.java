package org.sparkcollectives.recorder;

import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.Files;
import java.time.Instant;
import java.util.Comparator;
import java.util.List;
import org.sparkcollectives.FlightDump;
import org.sparkcollectives.FlightRecord;

/**
 * Reads a folder of dumps and says what happened. A command-line program: {@code spark-submit
 * --class org.sparkcollectives.recorder.FlightTrace <jar> FOLDER [TRACE.json] [options]}, with the
 * options of PyTorch's {@code fr_trace}.
 *
 * <p>It is in the jar that ships, so whoever has a dump has it too. It needs only Jackson, which is
 * among Spark's jars.
 */
public final class FlightTrace {

  private FlightTrace() {}

  /**
   * Prints the findings, and whatever else {@link FlightTraceOptions the options} ask for.
   *
   * @throws IllegalArgumentException if the command line is wrong, or there is no dump
   */
  public static void main(String[] arguments) throws IOException {
    FlightTraceOptions options = FlightTraceOptions.parse(arguments);
    FlightTraceOptions.Selection selection = options.selection();
    DumpFolder folder = new DumpFolder(options.folder());
    List<FlightDump> all = folder.read(selection.prefix());
    List<FlightDump> dumps = selection.of(all);
    if (dumps.isEmpty()) {
      throw new IllegalArgumentException(
          "There is no "
              + selection.prefix()
              + "*.json in "
              + options.folder()
              + (selection.ranks().isEmpty() ? "" : " of ranks " + selection.ranks()));
    }
    if (options.report().entries() || options.report().verbose()) {
      System.out.print(entries(dumps));
    }
    if (!options.report().entries()) {
      System.out.print(report(dumps, options));
    }
    if (options.trace() != null) {
      Files.write(options.trace(), ChromeTrace.of(dumps));
    }
    if (options.align()) {
      folder.align(all);
    }
    flush(System.out);
  }

  /** Returns the records of all ranks in the order of their calls, a line each. */
  static String entries(List<FlightDump> dumps) {
    record Line(int rank, FlightRecord record) {}

    StringBuilder text = new StringBuilder();
    dumps.stream()
        .flatMap(dump -> dump.records().stream().map(record -> new Line(dump.rank(), record)))
        .sorted(Comparator.comparingLong(line -> line.record().createdNanos()))
        .forEach(
            line ->
                text.append(time(line.record().createdNanos()))
                    .append(" rank ")
                    .append(line.rank())
                    .append(' ')
                    .append(line.record().state())
                    .append(' ')
                    .append(line.record().describe())
                    .append(' ')
                    .append(line.record().inputShapes())
                    .append(" -> ")
                    .append(line.record().outputShapes())
                    .append(" of group \"")
                    .append(line.record().group())
                    .append("\"\n"));
    return text.append('\n').toString();
  }

  private static Instant time(long nanos) {
    return Instant.ofEpochSecond(nanos / 1_000_000_000, nanos % 1_000_000_000);
  }

  private static void flush(PrintStream out) throws IOException {
    out.flush();
    if (out.checkError()) {
      throw new IOException("the report could not be printed");
    }
  }

  /** Returns the findings as lines of text, and what the ranks were asked to dump for. */
  public static String report(List<FlightDump> dumps) {
    return report(dumps, TraceAnalysis.of(dumps));
  }

  private static String report(List<FlightDump> dumps, FlightTraceOptions options) {
    boolean some =
        options.report().allowIncompleteRanks() || !options.selection().ranks().isEmpty();
    return report(dumps, TraceAnalysis.of(dumps, !some, options.report().mismatchCap()));
  }

  private static String report(List<FlightDump> dumps, List<String> findings) {
    StringBuilder text = new StringBuilder();
    findings.forEach(finding -> text.append(finding).append('\n'));
    if (findings.isEmpty()) {
      text.append("The calls of all ranks match, and no operation was pending.\n");
    }
    text.append('\n');
    for (FlightDump dump : dumps) {
      text.append(dump.where())
          .append(": ")
          .append(dump.records().size())
          .append(" records. Dumped because: ")
          .append(dump.reason().lines().findFirst().orElse("(no reason given)"))
          .append('\n');
    }
    return text.toString();
  }
}
