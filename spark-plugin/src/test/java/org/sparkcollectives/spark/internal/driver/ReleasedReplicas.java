package org.sparkcollectives.spark.internal.driver;

import java.util.ArrayList;
import java.util.List;
import org.sparkcollectives.spark.internal.protocol.Quorum;

/** Records whom a lighthouse releases. */
final class ReleasedReplicas implements Lighthouse.Listener {

  private final List<Long> incarnations = new ArrayList<>();

  @Override
  public void formed(Quorum quorum, boolean lostAttempt) {}

  @Override
  public void released(long incarnation) {
    incarnations.add(incarnation);
  }

  List<Long> incarnations() {
    return incarnations;
  }
}
