package org.sparkcollectives.internal.liveness;

import java.util.ArrayList;
import java.util.List;

/**
 * The stack of a thread at one moment, as text that can be sent.
 *
 * @param text the thread's name and state, then a line for each frame, as in a stack trace
 */
public record ThreadStack(String text) {

  /** The most frames; deep recursion would make megabytes of them. */
  private static final int MOST_FRAMES = 100;

  /** The most frames below the top that a sentence contains. */
  private static final int FRAMES_IN_SENTENCE = 3;

  private static final String FRAME = "\n\tat ";

  /**
   * The prefixes of frames that are not the user's, which say little of where the user's code is.
   */
  private static final List<String> LIBRARIES =
      List.of("java.", "jdk.", "sun.", "scala.", "org.apache.spark.");

  /**
   * Returns the stack of a thread now. Waits until the thread can be inspected, which takes a
   * moment.
   */
  public static ThreadStack of(Thread thread) {
    StackTraceElement[] frames = thread.getStackTrace();
    StringBuilder text =
        new StringBuilder("thread \"" + thread.getName() + "\" (" + thread.getState() + ")");
    for (int i = 0; i < Math.min(frames.length, MOST_FRAMES); i++) {
      text.append(FRAME).append(frames[i]);
    }
    if (frames.length > MOST_FRAMES) {
      text.append("\n\t... ").append(frames.length - MOST_FRAMES).append(" more");
    }
    return new ThreadStack(text.toString());
  }

  /** Returns only the frames, each on a line of its own, as they follow an exception's message. */
  public String frames() {
    int first = text.indexOf(FRAME);
    return first < 0 ? "" : text.substring(first);
  }

  /**
   * Returns the thread, where it is, and the nearest callers that are the user's code: a part of a
   * sentence.
   */
  public String summary() {
    String[] parts = text.split(FRAME, -1);
    if (parts.length == 1) {
      return parts[0] + " has ended";
    }
    List<String> callers = new ArrayList<>();
    for (int i = 2; i < parts.length && callers.size() < FRAMES_IN_SENTENCE; i++) {
      String frame = withoutModule(parts[i]);
      if (LIBRARIES.stream().noneMatch(frame::startsWith)) {
        callers.add(frame);
      }
    }
    String where = parts[0] + " is in " + withoutModule(parts[1]);
    return callers.isEmpty() ? where : where + ", called from " + String.join(" < ", callers);
  }

  /** Returns a frame without the module, such as {@code java.base/}, before the slash. */
  private static String withoutModule(String frame) {
    String plain = frame.split("\n", 2)[0];
    int slash =
        plain.lastIndexOf('/', plain.indexOf('(') < 0 ? plain.length() : plain.indexOf('('));
    return plain.substring(slash + 1);
  }
}
