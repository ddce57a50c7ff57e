package org.sparkcollectives.spark.internal.ui;

import java.util.ArrayList;
import java.util.List;
import org.apache.spark.util.kvstore.KVIndex;
import org.sparkcollectives.spark.event.QuorumFormed;
import org.sparkcollectives.spark.event.RunEnded;

/**
 * A call of {@code ElasticStage}, with its newest quorums. Never changed once it is in the store;
 * Jackson writes it where the store is on disk.
 */
public final class RunRow {

  /** How many quorums the page of a run shows. */
  static final int MOST_QUORUMS = 100;

  @KVIndex public long id;

  /** When its first quorum was formed. */
  public long since;

  /** When it ended, in milliseconds since 1970; 0 while it goes on. */
  public long ended;

  /** Why it failed; empty if it has not. */
  public String failure = "";

  /** The newest quorums, the newest last. */
  public List<QuorumFormed> quorums = List.of();

  /** Creates an empty row; Jackson fills it. */
  public RunRow() {}

  /** Creates the row of a run of which no event has been seen yet. */
  RunRow(long id, long since) {
    this.id = id;
    this.since = since;
  }

  private RunRow copy() {
    RunRow copy = new RunRow(id, since);
    copy.ended = ended;
    copy.failure = failure;
    copy.quorums = quorums;
    return copy;
  }

  /** Returns this row with one more quorum. */
  RunRow with(QuorumFormed quorum) {
    RunRow row = copy();
    List<QuorumFormed> newest = new ArrayList<>(quorums);
    newest.add(quorum);
    row.quorums =
        List.copyOf(newest.subList(Math.max(0, newest.size() - MOST_QUORUMS), newest.size()));
    return row;
  }

  /** Returns this row with the end of its run. */
  RunRow ended(RunEnded end) {
    RunRow row = copy();
    row.ended = end.time();
    row.failure = end.failure();
    return row;
  }

  /** Returns the newest quorum; one of no replicas if none was seen. */
  QuorumFormed newest() {
    return quorums.isEmpty()
        ? new QuorumFormed(id, since, 0, 0, false, 0, 0, 0, List.of())
        : quorums.get(quorums.size() - 1);
  }
}
