package org.sparkcollectives.gpu.testing;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.jna.Function;
import com.sun.jna.NativeLibrary;

/** What a program has not let go of, which the fake of CUDA counts. */
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

  /** Fails if something is left. */
  public static void check() {
    assertThat(find()).isEmpty();
  }

  /**
   * What is left, but for memory of devices, which goes with its context. Where the driver is a
   * real one, there is nothing to ask.
   */
  public static String find() {
    Function live;
    try {
      live = NativeLibrary.getInstance("libcuda.so.1").getFunction("fakeLive");
    } catch (UnsatisfiedLinkError e) {
      return "";
    }
    StringBuilder left = new StringBuilder();
    for (int kind = 1; kind < KINDS.length; kind++) {
      long count = (Long) live.invoke(Long.class, new Object[] {kind});
      if (count != 0) {
        left.append(count).append(' ').append(KINDS[kind]).append("; ");
      }
    }
    return left.toString();
  }
}
