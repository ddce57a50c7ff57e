package org.sparkcollectives.examples.benchmark;

import java.io.PrintStream;
import java.util.List;
import java.util.Locale;

/** Prints results as nccl-tests does, a line for each size. */
final class ResultTable {

  private static final String HEADS = "# %12s %12s %10s %10s %5s %12s %12s %12s %12s %10s %10s %8s";
  private static final String ROW =
      "  %12d %12d %10s %10s %5s %12.2f %12.2f %12.2f %12.2f %10.3f %10.3f %8s";

  private final PrintStream out;
  private String implementation = RankBenchmark.IMPLEMENTATION;

  ResultTable(PrintStream out) {
    this.out = out;
  }

  void begin(Report report) {
    List<?> transports = (List<?>) report.circumstance("transports");
    print(
        "# %s, %s ranks as %s, transports %s, memory %s; %s processors, load average %.2f",
        report.circumstance("operation"),
        report.circumstance("ranks"),
        report.circumstance("place"),
        transports.isEmpty() ? "as configured" : transports,
        report.circumstance("memory"),
        report.circumstance("processors"),
        report.circumstance("loadBefore"));
    print(
        HEADS, "size", "count", "type", "op", "root", "median", "min", "p90", "p99", "algbw",
        "busbw", "#wrong");
    print(
        HEADS,
        "(B)",
        "(elements)",
        "",
        "",
        "",
        "(us)",
        "(us)",
        "(us)",
        "(us)",
        "(GB/s)",
        "(GB/s)",
        "");
  }

  void row(Measurement result) {
    if (!result.implementation().equals(implementation)) {
      implementation = result.implementation();
      print("# the same by %s", implementation);
    }
    print(
        ROW,
        result.bytes(),
        result.count(),
        result.dtype(),
        result.reduction() == null ? "-" : result.reduction(),
        result.root() < 0 ? "-" : String.valueOf(result.root()),
        result.medianMicros(),
        result.minMicros(),
        result.p90Micros(),
        result.p99Micros(),
        result.algorithmBandwidth(),
        result.busBandwidth(),
        result.wrongElements() == null ? "-" : String.valueOf(result.wrongElements()));
  }

  void end(Report report) {
    print(
        "# wrong elements: %d; load average %.2f",
        report.wrongElements(), report.circumstance("loadAfter"));
  }

  private void print(String format, Object... values) {
    out.println(String.format(Locale.ROOT, format, values));
  }
}
