package org.sparkcollectives.spark.internal.ui;

import java.util.ArrayList;
import java.util.List;

/** Texts about a group that both pages show. */
final class GroupTexts {

  private GroupTexts() {}

  /** Returns the pairs of ranks by the way between them, such as {@code shm 1, tcp 4}. */
  static String paths(GroupRow group) {
    List<String> paths = new ArrayList<>();
    add(paths, "heap", group.heap);
    add(paths, "shm", group.sharedMemory);
    add(paths, "tcp", group.tcp);
    return paths.isEmpty() ? "–" : String.join(", ", paths);
  }

  private static void add(List<String> paths, String name, int pairs) {
    if (pairs > 0) {
      paths.add(name + " " + Format.count(pairs));
    }
  }

  /** Returns the stage and its attempt, such as {@code 3.0}, linked to Spark's page of it. */
  static void stage(Html html, GroupRow group, String toRoot) {
    if (group.stage < 0) {
      html.text("–");
      return;
    }
    html.link(
        toRoot + "stages/stage/?id=" + group.stage + "&attempt=" + group.stageAttempt,
        group.stage + "." + group.stageAttempt);
  }

  /** Returns the smallest size of a class, and the smallest that is too large for it. */
  static String sizeClass(int sizeClass) {
    if (sizeClass < 0) {
      return "–";
    }
    return sizeClass >= Long.SIZE - 2
        ? Format.bytes(1L << sizeClass) + " and more"
        : Format.bytes(1L << sizeClass) + " – " + Format.bytes(1L << (sizeClass + 1));
  }
}
