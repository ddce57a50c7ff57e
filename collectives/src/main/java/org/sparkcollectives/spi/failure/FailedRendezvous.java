package org.sparkcollectives.spi.failure;

import java.nio.ByteBuffer;
import java.util.Arrays;
import org.sparkcollectives.Failure;
import org.sparkcollectives.store.Store;

/**
 * Ends a rendezvous that cannot succeed, because a rank will not come. It writes the rank's failure
 * to the store in place of the endpoint table. Any process that sees the store may do so.
 */
public final class FailedRendezvous {

  /** The first byte of a failure; an endpoint table begins with its version, which is 1 or more. */
  private static final byte MARK = 0;

  /** The prefix of the keys of a rendezvous, in the group's keys. */
  public static final String FOLDER = "rendezvous";

  /** The key of the endpoint table, or of the failure in its place, in the group's keys. */
  public static final String OUTCOME_KEY = FOLDER + "/complete";

  /** The key of the agreed settings; it is there as soon as a rank has begun to join. */
  public static final String SETTINGS_KEY = FOLDER + "/terms";

  private static final byte[] ABSENT = {};

  private FailedRendezvous() {}

  /**
   * Ends the rendezvous of a group for all ranks: those that wait, and those that come later, throw
   * {@link org.sparkcollectives.PeerFailedException} with {@code failure}. Does nothing if all
   * ranks have joined, or if another failure has ended it. Blocks for a store call.
   *
   * @param groupStore the keys of the group alone
   * @return whether the ranks get this failure
   */
  public static boolean publish(Store groupStore, Failure failure) {
    byte[] record = FailureCodec.encode(failure);
    byte[] value = ByteBuffer.allocate(1 + record.length).put(MARK).put(record).array();
    return Arrays.equals(groupStore.compareSet(OUTCOME_KEY, ABSENT, value), value);
  }

  /**
   * Ends the rendezvous of all groups that are being made over a store. Blocks for a few store
   * calls.
   *
   * @param store the keys of all groups
   */
  public static void publishToAll(Store store, Failure failure) {
    for (String key : store.listKeys()) {
      if (key.endsWith("/" + SETTINGS_KEY)) {
        String group = key.substring(0, key.length() - SETTINGS_KEY.length() - 1);
        publish(store.withPrefix(group), failure);
      }
    }
  }

  /** Returns the failure that is in place of the endpoint table, or null if it is a table. */
  public static Failure decode(byte[] value) {
    return value.length > 0 && value[0] == MARK
        ? FailureCodec.decode(Arrays.copyOfRange(value, 1, value.length))
        : null;
  }
}
