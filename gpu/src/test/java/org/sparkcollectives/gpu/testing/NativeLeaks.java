package org.sparkcollectives.gpu.testing;

import com.sun.jna.Function;
import com.sun.jna.NativeLibrary;
import org.sparkcollectives.testing.Eventually;

/** The resources that a program has not released, which the fake of CUDA counts. */
public final class NativeLeaks {

  private static final String[] KINDS = {
    "bytes of devices",
    "bytes of pinned memory",
    "streams",
    "events",
    "modules",
    "communicators",
    "contexts"
  };

  private NativeLeaks() {}

  /** Fails if something is left. Tensors that nobody has freed are garbage-collected first. */
  public static void check() {
    Eventually.holdsAfterCollection(() -> find().isEmpty(), () -> "left: " + find());
  }

  /** Returns what is left. With a real driver there is nothing to query. */
  public static String find() {
    Function live;
    try {
      live = NativeLibrary.getInstance("libcuda.so.1").getFunction("fakeLive");
    } catch (UnsatisfiedLinkError e) {
      return "";
    }
    StringBuilder left = new StringBuilder();
    for (int kind = 0; kind < KINDS.length; kind++) {
      long count = (Long) live.invoke(Long.class, new Object[] {kind});
      if (count != 0) {
        left.append(count).append(' ').append(KINDS[kind]).append("; ");
      }
    }
    return left.toString();
  }
}
