package org.sparkcollectives.internal.liveness;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;

/**
 * Holds what the ranks of a group answered when they were asked how far they have come, see {@link
 * ProgressInquiry}.
 *
 * @param progress of each rank; null of one that did not answer
 * @param stacks where the threads of some ranks are that have not arrived, by rank
 * @param obstacle why not all could be asked; empty if they could
 */
public record ProgressAnswers(
    List<RankProgress> progress, Map<Integer, ThreadStack> stacks, String obstacle) {

  /** The most ranks that a sentence names. */
  private static final int MOST_NAMED = 20;

  /** The answers of a group that was not asked. */
  public static final ProgressAnswers NONE = new ProgressAnswers(List.of(), Map.of(), "");

  /**
   * Returns the ranks that have not called the collective with this number, by what they said; none
   * if nobody has said anything.
   */
  public List<Integer> missing(long sequenceNumber) {
    List<Integer> missing = new ArrayList<>();
    for (int peer = 0; !nothingIsKnown() && peer < progress.size(); peer++) {
      RankProgress each = progress.get(peer);
      if (each == null || each.lastCalled() < sequenceNumber) {
        missing.add(peer);
      }
    }
    return missing;
  }

  /** Returns the ranks that did not answer; none if not even the rank that asked could. */
  public List<Integer> unresponsive() {
    List<Integer> unresponsive = new ArrayList<>();
    for (int peer = 0; peer < progress.size(); peer++) {
      if (progress.get(peer) == null) {
        unresponsive.add(peer);
      }
    }
    return unresponsive.size() == progress.size() ? List.of() : unresponsive;
  }

  /**
   * Returns a sentence about the ranks that did not join, with the last operation of each.
   *
   * @param places each rank and where it is, as messages have it
   */
  public String describe(List<Integer> missing, List<String> places) {
    if (nothingIsKnown()) {
      return "which ranks have not arrived is not known"
          + (obstacle.isEmpty() ? "" : ", because " + obstacle);
    }
    if (missing.isEmpty()) {
      return "all ranks have joined it";
    }
    List<String> parts = new ArrayList<>();
    for (int peer : missing.subList(0, Math.min(MOST_NAMED, missing.size()))) {
      parts.add(places.get(peer) + ", which " + seen(peer));
    }
    if (missing.size() > MOST_NAMED) {
      parts.add((missing.size() - MOST_NAMED) + " more ranks");
    }
    return "not arrived: " + String.join("; ", parts) + whereStacksAre();
  }

  /** Returns whether not even the rank that asked has answered. */
  private boolean nothingIsKnown() {
    return progress.stream().allMatch(Objects::isNull);
  }

  private String seen(int peer) {
    RankProgress last = progress.get(peer);
    if (last == null) {
      return "does not answer";
    }
    String seen =
        last.lastCalled() < 0
            ? "has not called any collective"
            : "last called " + last.lastOperation();
    ThreadStack stack = stacks.get(peer);
    return stack == null ? seen : seen + " and whose " + stack.summary();
  }

  private String whereStacksAre() {
    return stacks.isEmpty() ? "" : " (the whole stacks are in the logs of those processes)";
  }
}
