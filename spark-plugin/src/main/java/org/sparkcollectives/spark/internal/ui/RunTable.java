package org.sparkcollectives.spark.internal.ui;

import java.util.List;
import org.sparkcollectives.spark.event.QuorumFormed;

/** Writes the calls of {@code ElasticStage}, a row each, in the list of the tab. */
final class RunTable {

  private RunTable() {}

  /** Writes the table, if there is a run. */
  static void write(Html html, List<RunRow> runs) {
    if (runs.isEmpty()) {
      return;
    }
    html.element("h4", "Elastic stages (" + runs.size() + ")");
    Table table =
        new Table(html, "collectives-runs")
            .column("Run", "The number of the call of ElasticStage, with a link to its page")
            .column("State", "Running, ended, or failed")
            .column("Replicas", "How many take part in the newest quorum")
            .column("Quorum", "The number of the newest quorum: how many there were")
            .column("Step", "The step with which the newest quorum began")
            .column("Attempts lost", "Attempts of a step that failed and were repeated")
            .column("Healed", "How often a replica has received the state of another")
            .column("Since", "When the first quorum was formed")
            .column("Duration", "From then to the end")
            .rows();
    for (RunRow run : runs) {
      QuorumFormed newest = run.newest();
      table
          .beginRow()
          .cell(cell -> cell.link("run/?id=" + run.id, Long.toString(run.id)))
          .cell(cell -> state(cell, run))
          .cell(newest.size())
          .cell(newest.quorum())
          .cell(newest.step())
          .cell(newest.lost())
          .cell(newest.healed())
          .cell(run.since, Format.time(run.since))
          .cell(duration(run), run.ended == 0 ? "–" : Format.millis(duration(run)))
          .endRow();
    }
    table.end();
  }

  private static long duration(RunRow run) {
    return run.ended == 0 ? 0 : Math.max(0, run.ended - run.since);
  }

  /** Adds the state of a run. */
  static void state(Html html, RunRow run) {
    if (!run.failure.isEmpty()) {
      html.element("strong", "failed", "class", "text-danger");
    } else {
      html.text(run.ended == 0 ? "running" : "ended");
    }
  }
}
