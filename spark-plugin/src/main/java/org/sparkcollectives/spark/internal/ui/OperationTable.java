package org.sparkcollectives.spark.internal.ui;

import org.sparkcollectives.spark.event.OperationSums;

/** The table of a group's operations, by kind, size and algorithm. */
final class OperationTable {

  private OperationTable() {}

  static void write(Html html, GroupRow group, GroupDetails details) {
    html.element("h4", "Operations");
    if (details.sums.byOperation().isEmpty()) {
      html.element("p", "No operation has been reported yet.");
      return;
    }
    Table table =
        new Table(html, "collectives-operations")
            .column("Operation", "The kind of operation")
            .column("Size", "From this size to less than that, of what one rank gives or gets")
            .column("Algorithm", "How it was carried out; see docs/internals/algorithms.md")
            .column("Count", "How many have succeeded on a rank, the mean of all")
            .column("Bytes", "Their bytes, summed over the ranks")
            .column("Bus bandwidth", "As nccl-tests has it: comparable between sizes of groups")
            .column("Median", "Half of the operations took less, waiting included")
            .column("p99", "99 % of the operations took less, waiting included")
            .column(
                "Waited",
                "How long a rank waited for the rank that came last: the mean of the operations"
                    + " that were compared")
            .rows();
    for (OperationSums row : details.sums.byOperation()) {
      table
          .beginRow()
          .cell(row.operation())
          .cell(row.sizeClass(), GroupTexts.sizeClass(row.sizeClass()))
          .cell(row.algorithm().isEmpty() ? "–" : row.algorithm())
          .cell(
              row.count(), Format.count(Math.round((double) row.count() / Math.max(1, group.size))))
          .cell(row.bytes(), Format.bytes(row.bytes()))
          .cell(
              row.busBytesPerSecond(),
              row.busBytesPerSecond() > 0 ? Format.rate(row.busBytesPerSecond()) : "–")
          .cell(row.medianSeconds(), Format.seconds(row.medianSeconds()))
          .cell(row.p99Seconds(), Format.seconds(row.p99Seconds()))
          .cell(
              row.waitedSeconds(), row.compared() == 0 ? "–" : Format.seconds(row.waitedSeconds()))
          .endRow();
    }
    table.end();
  }
}
