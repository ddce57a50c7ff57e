package org.sparkcollectives;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;

/**
 * The recent operations of one rank: what they were, how far they came, and when. May be used at
 * any time, even when the group has failed.
 */
public interface FlightRecorder {

  /** Returns a copy of the group's records that have not been overwritten, oldest first. */
  List<FlightRecord> records();

  /** Returns the contents of this rank's recorder, for all groups of the rank. */
  FlightDump dump();

  /**
   * Returns the contents of this rank's recorder, or a part of them, as c10d's {@code
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
   * Forgets the operations that this rank has called so far, in all its groups: c10d's {@code
   * _reset_fr_recording}. Those that are under way go on, and are in no later dump. Numbers go on
   * counting, and the groups, their status and {@link ProcessGroup#statistics} stay. Asks no other
   * rank; does not block.
   */
  void reset();

  /**
   * Makes all ranks submit their dumps, as they do when a group fails: in Spark to the driver,
   * elsewhere to the folder {@code spark.collectives.flightRecorder.folder}. For a group that was
   * made from another, these are all ranks of the other group.
   *
   * <p>Goes through the store, and takes two of its calls; does not wait for the dumps. Threads of
   * the library make the dumps, so ranks that are stuck in their own code dump too.
   *
   * @param reason shown in the dumps
   * @throws org.sparkcollectives.store.StoreException if the store cannot be reached
   */
  void dumpAllRanks(String reason);
}
