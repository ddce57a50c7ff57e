package org.sparkcollectives.recorder;

import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;

/**
 * The program that reads a folder of dumps and says what happened: {@code spark-submit --class
 * org.sparkcollectives.recorder.FlightTrace <jar> FOLDER [TRACE.json]}.
 *
 * <p>It is in the jar that ships, so whoever has a dump has it too, and takes nothing but Jackson,
 * which is among Spark's jars.
 */
public final class FlightTrace {

  private FlightTrace() {}

  /** Prints the findings, and writes a trace for Perfetto or Chrome if a second name is given. */
  public static void main(String[] arguments) throws IOException {
    if (arguments.length < 1 || arguments.length > 2) {
      throw new IllegalArgumentException(
          "Usage: FlightTrace FOLDER [TRACE.json]: a folder with dump-*.json, and where to write a"
              + " trace for Perfetto or Chrome");
    }
    List<FlightDump> dumps = new DumpFolder(Path.of(arguments[0])).read();
    if (dumps.isEmpty()) {
      throw new IllegalArgumentException("There is no dump-*.json in " + arguments[0]);
    }
    System.out.print(report(dumps));
    if (arguments.length == 2) {
      Files.write(Path.of(arguments[1]), ChromeTrace.of(dumps));
    }
    flush(System.out);
  }

  private static void flush(PrintStream out) throws IOException {
    out.flush();
    if (out.checkError()) {
      throw new IOException("the report could not be printed");
    }
  }

  /** The findings as lines of text, and what the ranks were asked to dump for. */
  public static String report(List<FlightDump> dumps) {
    StringBuilder text = new StringBuilder();
    List<String> findings = TraceAnalysis.of(dumps);
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
