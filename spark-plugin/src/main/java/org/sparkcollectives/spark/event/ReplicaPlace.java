package org.sparkcollectives.spark.event;

/**
 * Says where a replica of a quorum runs, and whether it has the state.
 *
 * @param replica the replica's number
 * @param task its task attempt; another one shows that Spark has started the replica again
 * @param host the host's name or address
 * @param executor the executor's id
 * @param source the replica from which it receives the state; its own number if it has it
 */
public record ReplicaPlace(int replica, long task, String host, String executor, int source) {

  public ReplicaPlace {
    host = Bounds.text(host, GroupMade.MOST_NAME_CHARACTERS);
    executor = Bounds.text(executor, GroupMade.MOST_NAME_CHARACTERS);
  }
}
