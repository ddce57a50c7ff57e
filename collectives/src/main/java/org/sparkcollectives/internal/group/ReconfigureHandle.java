package org.sparkcollectives.internal.group;

import java.security.SecureRandom;
import java.util.Comparator;
import java.util.HexFormat;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * What names a member of the next group. Its text is {@code spark:<rank>:<number of the present
 * group, or new>:<first rank>:<incarnation>}.
 *
 * @param rank in the present group
 * @param present the number of the present group; {@code new} without one
 * @param first the rank that the member was made with, which never changes
 * @param incarnation tells the member from one that was made later in its place
 */
record ReconfigureHandle(int rank, String present, int first, String incarnation) {

  /** The order of the ranks in a group whose members have none. */
  static final Comparator<ReconfigureHandle> ORDER =
      Comparator.comparingInt(ReconfigureHandle::first)
          .thenComparing(ReconfigureHandle::incarnation);

  private static final Pattern FORM =
      Pattern.compile("spark:(\\d{1,9}):(new|-?\\d{1,19}):(\\d{1,9}):([0-9a-f]{16})");

  private static final SecureRandom RANDOM = new SecureRandom();

  /** Returns the handle of a member that is made now. */
  static ReconfigureHandle create(int rank) {
    byte[] incarnation = new byte[8];
    RANDOM.nextBytes(incarnation);
    return new ReconfigureHandle(rank, "new", rank, HexFormat.of().formatHex(incarnation));
  }

  /** Returns the handle that a text is; null if it is none. */
  static ReconfigureHandle parse(String text) {
    Matcher parts = FORM.matcher(text);
    return parts.matches()
        ? new ReconfigureHandle(
            Integer.parseInt(parts.group(1)),
            parts.group(2),
            Integer.parseInt(parts.group(3)),
            parts.group(4))
        : null;
  }

  /** Returns the handle of this member in its next group. */
  ReconfigureHandle in(long uuid, int newRank) {
    return new ReconfigureHandle(newRank, String.valueOf(uuid), first, incarnation);
  }

  @Override
  public String toString() {
    return "spark:" + rank + ":" + present + ":" + first + ":" + incarnation;
  }
}
