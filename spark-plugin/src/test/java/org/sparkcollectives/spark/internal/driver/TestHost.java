package org.sparkcollectives.spark.internal.driver;

import org.sparkcollectives.Failure;
import org.sparkcollectives.spark.internal.executor.DriverStoreClient;
import org.sparkcollectives.spi.RankContext;

/** The host of a rank whose task is not Spark's. */
record TestHost(DriverStoreClient store, long taskAttemptId) implements RankContext {

  @Override
  public String executorId() {
    return "executor-" + taskAttemptId;
  }

  @Override
  public boolean isKilled() {
    return false;
  }

  @Override
  public String killReason() {
    return "";
  }

  @Override
  public void joined(String group, Failure ifLost) {
    store.leaveWill(group, ifLost);
  }

  @Override
  public void left(String group) {
    store.revokeWill(group);
  }
}
