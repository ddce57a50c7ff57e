package org.sparkcollectives.internal.transport.tcp;

import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.sparkcollectives.ReduceOp;
import org.sparkcollectives.Tensor;
import org.sparkcollectives.testing.ForkedJvm;
import org.sparkcollectives.testing.GroupRuns;
import org.sparkcollectives.testing.Paths;

/**
 * The JDK changes the key of a TLS 1.3 connection by itself after some bytes. How many is a setting
 * of the whole JVM, so the ranks have one of their own, where it is 1 MiB.
 */
class TlsKeyLimitTest {

  private static final int RANKS = 3;
  private static final int ROUNDS = 5;
  private static final int ELEMENTS = 1_000_000;
  private static final Duration LIMIT = Duration.ofMinutes(5);

  @TempDir private Path folder;

  @Test
  void resultsAreRightWhileTheJdkChangesKeys() throws Exception {
    Path limits = folder.resolve("java.security");
    Files.writeString(
        limits,
        "jdk.tls.keyLimits=AES/GCM/NoPadding KeyUpdate 2^20, ChaCha20-Poly1305 KeyUpdate 2^20\n");
    List<String> options =
        List.of(
            "-Xmx256m", "-Djava.security.properties=" + limits, "-Djavax.net.debug=ssl:handshake");
    try (ForkedJvm ranks = ForkedJvm.start(options, Ranks.class)) {
      ranks.awaitOutput("all sums are right", LIMIT);
      assertThat(ranks.output().split("Produced KeyUpdate", -1).length - 1)
          .as("new keys")
          .isGreaterThan(RANKS * ROUNDS);
    }
  }

  /** Adds up arrays of which each rank sends many times the limit, both ways at once. */
  static final class Ranks {

    private Ranks() {}

    public static void main(String[] arguments) {
      for (Paths path : List.of(Paths.TLS, Paths.STRIPED_TLS)) {
        GroupRuns.run(
            RANKS,
            path,
            group -> {
              int[] values = new int[ELEMENTS];
              for (int round = 0; round < ROUNDS; round++) {
                Arrays.fill(values, group.rank() + round);
                group.allReduce(Tensor.of(values), ReduceOp.SUM).await();
                int expected = RANKS * round + RANKS * (RANKS - 1) / 2;
                for (int value : values) {
                  if (value != expected) {
                    throw new AssertionError(value + " instead of " + expected);
                  }
                }
                group.barrier().await();
              }
              return null;
            });
      }
      System.out.println("all sums are right");
    }
  }
}
