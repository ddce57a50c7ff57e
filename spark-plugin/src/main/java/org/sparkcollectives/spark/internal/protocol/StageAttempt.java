package org.sparkcollectives.spark.internal.protocol;

/**
 * One attempt of a stage, by which the driver's store separates its keys and clients.
 *
 * @param stageId the stage
 * @param attempt which attempt of it, from 0
 */
public record StageAttempt(int stageId, int attempt) {

  /** Returns the prefix of the keys of this attempt. */
  public String keyPrefix() {
    return "stage-" + stageId + "." + attempt + "/";
  }

  /** Returns whether the other attempt was submitted later. */
  public boolean isBefore(StageAttempt other) {
    return stageId == other.stageId ? attempt < other.attempt : stageId < other.stageId;
  }

  @Override
  public String toString() {
    return "stage " + stageId + "." + attempt;
  }
}
