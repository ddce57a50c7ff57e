package org.sparkcollectives.internal.liveness;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.sparkcollectives.CollectiveException;
import org.sparkcollectives.internal.rendezvous.Membership;
import org.sparkcollectives.internal.transport.Endpoint;
import org.sparkcollectives.internal.transport.NodeAddress;
import org.sparkcollectives.internal.transport.Place;
import org.sparkcollectives.spi.RankContext;

/** Makes ranks of a group whose connections do not exist. */
public final class Ranks {

  private Ranks() {}

  /**
   * Returns the group "g" of {@code size} ranks, each in a JVM of its own, as one of them sees it.
   */
  public static Membership membership(int rank, int size) {
    List<Endpoint> endpoints = new ArrayList<>();
    for (int each = 0; each < size; each++) {
      endpoints.add(
          new Endpoint(
              each,
              new NodeAddress(
                  "node " + each,
                  new Place("host-" + each, 2, true),
                  "127.0.0.1",
                  1,
                  "executor " + each),
              each));
    }
    return new Membership("g", "", rank, endpoints, new byte[32]);
  }

  /** The context of a rank in a process that the test kills. */
  public static final class Context implements RankContext {

    private final List<String> tornDown = new ArrayList<>();
    private String killed;
    private boolean withOthers;

    /** Kills the rank. */
    public void kill(String reason, boolean stoppedWithOthers) {
      killed = reason;
      withOthers = stoppedWithOthers;
    }

    /** Returns the reason of each tear-down. */
    public List<String> tornDown() {
      return tornDown;
    }

    @Override
    public String executorId() {
      return "executor";
    }

    @Override
    public long taskAttemptId() {
      return -1;
    }

    @Override
    public boolean isKilled() {
      return killed != null;
    }

    @Override
    public String killReason() {
      return killed;
    }

    @Override
    public boolean isStoppedWithOthers() {
      return withOthers;
    }

    @Override
    public void tearDown(CollectiveException cause, Duration patience) {
      tornDown.add(cause.getMessage() + " within " + patience);
    }
  }
}
