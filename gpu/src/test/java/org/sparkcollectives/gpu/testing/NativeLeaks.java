package org.sparkcollectives.gpu.testing;

import static org.assertj.core.api.Assertions.assertThat;

import com.sun.jna.Function;
import com.sun.jna.NativeLibrary;

/** What a program has not let go of, which the fake of CUDA counts. */
final class NativeLeaks {

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

  /**
   * Fails if something is left but memory of devices, which goes with its context. Where the driver
   * is a real one, there is nothing to ask.
   */
  static void check() {
    Function live;
    try {
      live = NativeLibrary.getInstance("libcuda.so.1").getFunction("fakeLive");
    } catch (UnsatisfiedLinkError e) {
      return;
    }
    for (int kind = 1; kind < KINDS.length; kind++) {
      long left = (Long) live.invoke(Long.class, new Object[] {kind});
      assertThat(left).as(KINDS[kind]).isZero();
    }
  }
}
