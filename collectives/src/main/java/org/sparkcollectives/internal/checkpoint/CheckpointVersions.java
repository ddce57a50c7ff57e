package org.sparkcollectives.internal.checkpoint;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.sparkcollectives.CollectiveException;
import org.sparkcollectives.store.Store;

/**
 * The versions of one checkpoint in a store: which of them are complete, and which parts of others
 * are left.
 *
 * <p>A version is a number that is drawn once. Its ranks write their parts under it. When all parts
 * are there, the version is committed, by one compare-and-set of a record that names it and the one
 * before. So a version whose ranks did not all write their parts, for whatever reason, is never
 * read. A version is committed only if no later one was. Therefore {@link #removeStale} may remove
 * the parts of all versions that are older than the record's two.
 *
 * <pre>
 *   version                     the number drawn last
 *   committed                   the {@link Commit} record
 *   part/RANK/VERSION/layout    a {@link CheckpointPart}
 *   part/RANK/VERSION/PIECE
 * </pre>
 */
final class CheckpointVersions {

  private static final String DRAWN = "version";
  private static final String COMMITTED = "committed";
  private static final String PARTS = "part";
  private static final byte[] ABSENT = {};

  private final Store store;

  /** Creates the versions of the checkpoint whose keys are those of {@code store}. */
  CheckpointVersions(Store store) {
    this.store = store;
  }

  /**
   * The record of the complete versions.
   *
   * @param version the latest
   * @param previous the one committed before it, 0 for none
   * @param ranks by how many ranks it was taken
   * @param replicated whether rank 0 has written for all
   */
  record Commit(long version, long previous, int ranks, boolean replicated) {

    private byte[] encode() {
      return ByteBuffer.allocate(2 * Long.BYTES + Integer.BYTES + 1)
          .putLong(version)
          .putLong(previous)
          .putInt(ranks)
          .put((byte) (replicated ? 1 : 0))
          .array();
    }

    private static Commit decode(byte[] bytes) {
      ByteBuffer in = ByteBuffer.wrap(bytes);
      return new Commit(in.getLong(), in.getLong(), in.getInt(), in.get() == 1);
    }

    private boolean keeps(long other) {
      return other >= version || other == previous;
    }
  }

  /** Draws a number that no version has had, larger than those of all versions before. */
  long draw() {
    return store.add(DRAWN, 1);
  }

  /** Returns the latest complete version; null if there is none. */
  Commit latest() {
    return store.check(List.of(COMMITTED)) ? Commit.decode(store.get(COMMITTED)) : null;
  }

  /**
   * Commits a version whose parts are all there, as the latest.
   *
   * @throws CollectiveException if a later one is committed: then another group continues with this
   *     checkpoint, not this rank's
   */
  Commit commit(long version, int ranks, boolean replicated) {
    byte[] expected = ABSENT;
    while (true) {
      long previous = expected.length == 0 ? 0 : Commit.decode(expected).version();
      if (previous > version) {
        throw new CollectiveException(
            "version "
                + previous
                + " was committed before version "
                + version
                + ": another group, which began later, goes on with this checkpoint");
      }
      Commit commit = new Commit(version, previous, ranks, replicated);
      byte[] desired = commit.encode();
      byte[] stored = store.compareSet(COMMITTED, expected, desired);
      if (Arrays.equals(stored, desired)) {
        return commit;
      }
      expected = stored;
    }
  }

  /** Returns a rank's part of a version. */
  CheckpointPart part(int rank, long version) {
    return new CheckpointPart(parts().withPrefix(rank + "/" + version));
  }

  /**
   * Removes a rank's parts of versions that are neither kept nor newer; rank 0 also removes those
   * of ranks that the group does not have.
   */
  void removeStale(Commit kept, int rank, int size) {
    String own = rank + "/";
    Store parts = rank == 0 ? parts() : parts().withPrefix(Integer.toString(rank));
    List<String> stale = new ArrayList<>();
    for (String key : parts.listKeys()) {
      String[] names = (rank == 0 ? key : own + key).split("/", -1);
      int writer = Integer.parseInt(names[0]);
      if ((writer == rank || writer >= size) && !kept.keeps(Long.parseLong(names[1]))) {
        stale.add(key);
      }
    }
    parts.deleteKeys(stale);
  }

  private Store parts() {
    return store.withPrefix(PARTS);
  }
}
