package org.sparkcollectives.internal.liveness;

import java.io.ByteArrayOutputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.BufferUnderflowException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;

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

  /** Returns the answers of a group none of whose ranks has answered, and why. */
  static ProgressAnswers none(int size, String obstacle) {
    return new ProgressAnswers(Collections.nCopies(size, null), Map.of(), obstacle);
  }

  /** Returns these answers with that of one rank replaced. */
  ProgressAnswers with(int rank, RankProgress own) {
    List<RankProgress> replaced = new ArrayList<>(progress);
    replaced.set(rank, own);
    return new ProgressAnswers(replaced, stacks, obstacle);
  }

  /** Returns whether no rank has answered. */
  boolean isEmpty() {
    return progress.stream().allMatch(Objects::isNull);
  }

  /**
   * Returns the answers and stacks as bytes. Neighbours that answered the same take the space of
   * one: in a large group nearly all do.
   */
  byte[] encode() {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    try (DataOutputStream out = new DataOutputStream(bytes)) {
      for (int first = 0, next; first < progress.size(); first = next) {
        RankProgress each = progress.get(first);
        next = first + 1;
        while (next < progress.size() && Objects.equals(progress.get(next), each)) {
          next++;
        }
        out.writeInt(next - first);
        write(out, each == null ? new byte[0] : each.encode());
      }
      out.writeInt(stacks.size());
      for (Map.Entry<Integer, ThreadStack> stack : stacks.entrySet()) {
        out.writeInt(stack.getKey());
        write(out, stack.getValue().text().getBytes(StandardCharsets.UTF_8));
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    return bytes.toByteArray();
  }

  private static void write(DataOutputStream out, byte[] bytes) throws IOException {
    out.writeInt(bytes.length);
    out.write(bytes);
  }

  /**
   * Returns the answers of a group of this size that {@link #encode} made these bytes of.
   *
   * @throws IllegalArgumentException if it did not
   */
  static ProgressAnswers decode(byte[] bytes, int size) {
    try {
      ByteBuffer in = ByteBuffer.wrap(bytes);
      List<RankProgress> progress = new ArrayList<>();
      while (progress.size() < size) {
        int count = in.getInt();
        if (count < 1 || count > size - progress.size()) {
          throw new IllegalArgumentException(
              count + " ranks after " + progress.size() + " of " + size);
        }
        byte[] each = next(in);
        progress.addAll(
            Collections.nCopies(count, each.length == 0 ? null : RankProgress.decode(each)));
      }
      Map<Integer, ThreadStack> stacks = new TreeMap<>();
      for (int left = in.getInt(); left > 0; left--) {
        int rank = Objects.checkIndex(in.getInt(), size);
        stacks.put(rank, new ThreadStack(new String(next(in), StandardCharsets.UTF_8)));
      }
      return new ProgressAnswers(progress, stacks, "");
    } catch (BufferUnderflowException | IndexOutOfBoundsException e) {
      throw new IllegalArgumentException(
          bytes.length + " bytes are not the answers of " + size + " ranks", e);
    }
  }

  private static byte[] next(ByteBuffer in) {
    byte[] bytes = new byte[Objects.checkIndex(in.getInt(), in.remaining() + 1)];
    in.get(bytes);
    return bytes;
  }

  /**
   * Returns the ranks that have not called the collective with this number, by what they said; none
   * if nobody has said anything.
   */
  public List<Integer> missing(long sequenceNumber) {
    List<Integer> missing = new ArrayList<>();
    for (int peer = 0; !isEmpty() && peer < progress.size(); peer++) {
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
    if (isEmpty()) {
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

  /**
   * Returns a part of a sentence about the ranks that have not reached another yet; empty if there
   * are none.
   *
   * @param places each rank and where it is, as messages have it
   * @param addresses where each rank accepts connections
   */
  public String connecting(List<String> places, List<String> addresses) {
    List<String> parts = new ArrayList<>();
    int more = 0;
    for (int from = 0; from < progress.size(); from++) {
      RankProgress each = progress.get(from);
      for (int to : each == null ? List.<Integer>of() : each.connectingTo()) {
        if (to < 0 || to >= places.size()) {
          continue;
        }
        if (parts.size() < MOST_NAMED) {
          parts.add(places.get(from) + " to " + places.get(to) + " at " + addresses.get(to));
        } else {
          more++;
        }
      }
    }
    if (more > 0) {
      parts.add(more + " more connections");
    }
    return parts.isEmpty() ? "" : "still connecting: " + String.join("; ", parts);
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
