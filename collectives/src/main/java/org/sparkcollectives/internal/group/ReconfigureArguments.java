package org.sparkcollectives.internal.group;

import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/** Refuses handles from which no group can be made, in c10d's words and with what to do. */
final class ReconfigureArguments {

  private final String where;
  private final ReconfigureHandle self;

  /**
   * Creates the checks of one call.
   *
   * @param group the name of the group that changes
   * @param self this rank's handle
   */
  ReconfigureArguments(String group, ReconfigureHandle self, long uuid) {
    this.where = " (uuid " + uuid + ", rank " + self.rank() + " of group \"" + group + "\"): ";
    this.self = self;
  }

  /** Returns the members in the order of their new ranks. */
  List<ReconfigureHandle> ordered(List<String> handles) {
    return checked(handles);
  }

  /** Returns members that are given in no order in that of the ranks they were made with. */
  List<ReconfigureHandle> sorted(Set<String> handles) {
    return checked(handles).stream().sorted(ReconfigureHandle.ORDER).toList();
  }

  private List<ReconfigureHandle> checked(Collection<String> handles) {
    if (handles.isEmpty()) {
      throw refused(
          "Reconfigure requires at least one handle", "give those of all members, and this rank's");
    }
    List<ReconfigureHandle> members = handles.stream().map(this::parse).toList();
    Map<String, ReconfigureHandle> unique = new HashMap<>();
    for (ReconfigureHandle each : members) {
      ReconfigureHandle other = unique.put(each.first() + ":" + each.incarnation(), each);
      if (other != null) {
        throw refused(
            "Reconfigure handles must be unique",
            other
                + " and "
                + each
                + " are one member, which is one rank. A handle changes with each reconfigure:"
                + " collect them anew");
      }
    }
    if (!members.contains(self)) {
      throw refused(
          "Local Spark reconfigure handle is not part of the new communicator",
          self
              + " is not in "
              + handles
              + ". A handle changes with each reconfigure: collect them anew; and a rank that is"
              + " left out does not call it");
    }
    return members;
  }

  private ReconfigureHandle parse(String text) {
    ReconfigureHandle handle = text == null ? null : ReconfigureHandle.parse(text);
    if (handle == null) {
      throw refused(
          "Invalid Spark reconfigure handle: " + text,
          "give what handle() returned on each member");
    }
    return handle;
  }

  /** Returns the refusal of a number that has had a group, or an attempt to make one. */
  IllegalArgumentException used(long uuid) {
    return refused(
        "Spark reconfigure uuid "
            + uuid
            + " was already used; each reconfigure() requires a unique uuid",
        "give a number that was never used, also after an attempt that failed");
  }

  /** Returns the refusal of handles that differ from those of another member. */
  IllegalArgumentException others(String given, String agreed) {
    return refused(
        "Reconfigure handles differ between members",
        "here "
            + given
            + ", but "
            + agreed
            + ". All members give the same handles, in the same order if they give a list, and a"
            + " number that was never used");
  }

  private IllegalArgumentException refused(String what, String advice) {
    return new IllegalArgumentException(what + where + advice);
  }
}
