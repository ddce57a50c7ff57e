package org.sparkcollectives.recorder;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;

/**
 * The recent operations of one rank: what they were, how far they came, and when. May be used at
 * any time, also when the group has failed.
 */
public interface FlightRecorder {

  /** A copy of the group's records that are still there, oldest first. */
  List<FlightRecord> records();

  /** What this rank's recorder holds now, of all groups of the rank. */
  FlightDump dump();

  /**
   * Returns what this rank's recorder holds now, or a part of it, as c10d's {@code
   * _dump_nccl_trace_json}.
   *
   * @param includeCollectives whether there are records, or only the groups and how far they are
   * @param onlyActive whether records of operations that have ended are left out
   */
  default FlightDump dump(boolean includeCollectives, boolean onlyActive) {
    FlightDump dump = dump();
    if (!includeCollectives) {
      return dump.withoutRecords();
    }
    return onlyActive ? dump.onlyActive() : dump;
  }

  /** Writes {@link #dump()} into a folder, see {@link FlightDump#writeTo}. */
  default void dump(Path folder) throws IOException {
    dump().writeTo(folder);
  }

  /** Returns {@link #dump()} as JSON. */
  default String toJson() {
    return dump().toJson();
  }

  /**
   * Has all ranks hand in their dumps, as they do when a group fails: in Spark at the driver,
   * elsewhere in the folder {@code spark.collectives.flightRecorder.folder}. Those of a group that
   * was made from another are all ranks of that one.
   *
   * <p>Goes through the store, and takes two of its calls; does not wait for the dumps. Ranks that
   * are stuck in their own code dump too, as threads of the library do it.
   *
   * @param reason shown in the dumps
   * @throws org.sparkcollectives.store.StoreException if the store cannot be reached
   */
  void dumpAllRanks(String reason);
}
