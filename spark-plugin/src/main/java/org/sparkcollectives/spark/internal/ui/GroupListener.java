package org.sparkcollectives.spark.internal.ui;

import org.apache.spark.scheduler.SparkListener;
import org.apache.spark.scheduler.SparkListenerApplicationEnd;
import org.apache.spark.scheduler.SparkListenerEvent;
import org.sparkcollectives.spark.event.GroupEnded;
import org.sparkcollectives.spark.event.GroupFailed;
import org.sparkcollectives.spark.event.GroupMade;
import org.sparkcollectives.spark.event.GroupProgress;
import org.sparkcollectives.spark.event.LibraryStarted;
import org.sparkcollectives.spark.event.QuorumFormed;
import org.sparkcollectives.spark.event.RunEnded;

/**
 * Writes rows for the events of this library, live and in a history server.
 *
 * <p>Its only state is the store. Spark may drop events, so none needs another: a group whose
 * beginning was dropped is shown without its ranks.
 */
final class GroupListener extends SparkListener {

  /** How many groups the tab shows before those that ended first are removed. */
  static final int MOST_GROUPS = 1000;

  /** How many calls of {@code ElasticStage} the tab shows. */
  static final int MOST_RUNS = 100;

  private final GroupStore store;
  private final int retained;

  /**
   * Creates the listener.
   *
   * @param retained how many groups are kept
   */
  GroupListener(GroupStore store, int retained) {
    this.store = store;
    this.retained = retained;
  }

  @Override
  public void onOtherEvent(SparkListenerEvent event) {
    if (event instanceof LibraryStarted started) {
      store.write(new LibraryRow(started));
    } else if (event instanceof GroupMade made) {
      write(
          row(made.id(), made.name(), made.time()).with(made),
          details(made.id(), made.time()).with(made));
    } else if (event instanceof GroupProgress progress) {
      write(
          row(progress.id(), progress.name(), progress.time()).with(progress.sums()),
          details(progress.id(), progress.time()).with(progress.sums(), progress.time()));
    } else if (event instanceof GroupEnded ended) {
      GroupRow.State state = ended.failed() ? GroupRow.State.FAILED : GroupRow.State.CLOSED;
      write(
          row(ended.id(), ended.name(), ended.time()).with(ended.sums()).ended(state, ended.time()),
          details(ended.id(), ended.time()).with(ended.sums(), ended.time()));
    } else if (event instanceof GroupFailed failed) {
      write(
          row(failed.id(), failed.name(), failed.time())
              .ended(GroupRow.State.FAILED, failed.time()),
          details(failed.id(), failed.time()).with(failed));
    } else if (event instanceof QuorumFormed quorum) {
      store.write(run(quorum.run(), quorum.time()).with(quorum));
      store.retainRuns(MOST_RUNS);
    } else if (event instanceof RunEnded ended) {
      store.write(run(ended.run(), ended.time()).ended(ended));
    }
  }

  /** Closes the groups and runs whose end the driver could not post any more. */
  @Override
  public void onApplicationEnd(SparkListenerApplicationEnd end) {
    for (GroupRow row : store.groups()) {
      if (row.ended == 0) {
        store.write(row.ended(GroupRow.State.CLOSED, end.time()));
      }
    }
    for (RunRow run : store.runs()) {
      if (run.ended == 0) {
        store.write(run.ended(new RunEnded(run.id, end.time(), "")));
      }
    }
  }

  private RunRow run(long id, long time) {
    return store.run(id).orElseGet(() -> new RunRow(id, time));
  }

  private GroupRow row(long id, String name, long time) {
    return store.group(id).orElseGet(() -> new GroupRow(id, name, time));
  }

  private GroupDetails details(long id, long time) {
    return store.details(id).orElseGet(() -> new GroupDetails(id, time));
  }

  private void write(GroupRow row, GroupDetails details) {
    store.write(row);
    store.write(details);
    store.retain(retained);
  }
}
