package org.sparkcollectives.spark.internal.protocol;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;

/**
 * The replicas that take the next steps together.
 *
 * @param id counts quorums from 1; it grows when the members change, or need a new group
 * @param members by their rank; none if there are no further steps
 * @param checkpoint the checkpoint that they begin with; null if one of them has the state
 */
public record Quorum(long id, List<Member> members, StateVersion checkpoint) {

  /** The answer of the driver when the run is over. */
  public static final Quorum OVER = new Quorum(0, List.of(), null);

  /**
   * A replica in a quorum.
   *
   * @param replica its number
   * @param incarnation its task attempt
   * @param request with which it asked
   */
  public record Member(int replica, long incarnation, QuorumRequest request) {}

  public Quorum {
    members = List.copyOf(members);
  }

  /** Returns whether there are no further steps. */
  public boolean isOver() {
    return members.isEmpty();
  }

  /** Returns the rank of an incarnation; -1 if it is no member. */
  public int rank(long incarnation) {
    for (int rank = 0; rank < members.size(); rank++) {
      if (members.get(rank).incarnation() == incarnation) {
        return rank;
      }
    }
    return -1;
  }

  /** Returns the rank from which the others get the state: the first that has the newest. */
  public int source() {
    StateVersion newest = newest();
    for (int rank = 0; ; rank++) {
      if (members.get(rank).request().version().equals(newest)) {
        return rank;
      }
    }
  }

  /** Returns the newest version that a member has. */
  public StateVersion newest() {
    return members.stream()
        .map(each -> each.request().version())
        .max(Comparator.naturalOrder())
        .orElse(StateVersion.NONE);
  }

  /** Returns the ranks that get the state from {@link #source}. */
  public List<Integer> receivers() {
    StateVersion newest = newest();
    int source = source();
    List<Integer> receivers = new ArrayList<>();
    for (int rank = 0; rank < members.size(); rank++) {
      StateVersion own = members.get(rank).request().version();
      // A state of no quorum is each replica's own; a checkpoint is read by the source alone.
      boolean stale = checkpoint != null || newest.equals(StateVersion.NONE) || !own.equals(newest);
      if (rank != source && stale) {
        receivers.add(rank);
      }
    }
    return receivers;
  }

  /** Returns the version of the state that all members have once they have got it. */
  public StateVersion healed() {
    if (checkpoint != null) {
      return new StateVersion(id, checkpoint.step());
    }
    StateVersion newest = newest();
    return newest.equals(StateVersion.NONE) ? new StateVersion(id, 0) : newest;
  }

  /** Returns the bytes of the quorum. */
  public byte[] encode() {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    try (DataOutputStream out = new DataOutputStream(bytes)) {
      out.writeLong(id);
      out.writeBoolean(checkpoint != null);
      if (checkpoint != null) {
        out.writeLong(checkpoint.quorum());
        out.writeLong(checkpoint.step());
      }
      out.writeInt(members.size());
      for (Member each : members) {
        out.writeInt(each.replica());
        out.writeLong(each.incarnation());
        each.request().write(out);
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return bytes.toByteArray();
  }

  /**
   * Returns the quorum that {@link #encode} made the bytes of.
   *
   * @throws IllegalArgumentException if it did not
   */
  public static Quorum decode(byte[] bytes) {
    try (DataInputStream in = new DataInputStream(new ByteArrayInputStream(bytes))) {
      long id = in.readLong();
      StateVersion checkpoint =
          in.readBoolean() ? new StateVersion(in.readLong(), in.readLong()) : null;
      List<Member> members = new ArrayList<>();
      for (int left = in.readInt(); left > 0; left--) {
        members.add(new Member(in.readInt(), in.readLong(), QuorumRequest.read(in)));
      }
      return new Quorum(id, members, checkpoint);
    } catch (IOException e) {
      throw new IllegalArgumentException(
          "a message of " + bytes.length + " bytes that is no quorum: " + e, e);
    }
  }
}
