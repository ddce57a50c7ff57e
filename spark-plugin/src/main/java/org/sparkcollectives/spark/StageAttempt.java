package org.sparkcollectives.spark;

/**
 * One attempt of a stage; what the driver's store keeps things apart by.
 *
 * @param stageId the stage
 * @param attempt which attempt of it, from 0
 */
record StageAttempt(int stageId, int attempt) {

  /** What the keys of this attempt begin with. */
  String keyPrefix() {
    return "stage-" + stageId + "." + attempt + "/";
  }

  /** Whether the other one was submitted later. */
  boolean isBefore(StageAttempt other) {
    return stageId == other.stageId ? attempt < other.attempt : stageId < other.stageId;
  }

  @Override
  public String toString() {
    return "stage " + stageId + "." + attempt;
  }
}
