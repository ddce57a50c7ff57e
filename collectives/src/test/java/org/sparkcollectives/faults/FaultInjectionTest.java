package org.sparkcollectives.faults;

import static org.assertj.core.api.Assertions.assertThat;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.extension.ExtendWith;
import org.sparkcollectives.testing.LeakCheck;

/**
 * Tests every fault in every phase at some moment: no rank hangs, all other ranks report the right
 * rank and fault, nothing is left behind, and the others go on without the victim.
 *
 * <p>Prints each case with its times, and a table of all. {@code -Dfaults.seed} and {@code
 * -Dfaults.first} repeat cases, {@code -Dfaults.count} sets how many. Where network namespaces are
 * permitted, each process has one; {@code -Dfaults.namespaces=false} does without. {@code
 * -Dfaults.slowness=4} makes all times four times as long, for a busy machine.
 */
@EnabledOnOs(OS.LINUX)
@ExtendWith(LeakCheck.class)
class FaultInjectionTest {

  private static final int SAMPLE = 30;
  private static final int ALL = 1000;

  /** The number of problems after which the test ends. */
  private static final int MOST_PROBLEMS = 10;

  @Test
  void nothingHangsAndEverythingIsExplainedInASampleOfCases() throws Exception {
    assertThatCasesEndWell(Integer.getInteger("faults.count", SAMPLE));
  }

  @Tag("faults")
  @Test
  void nothingHangsAndEverythingIsExplainedInAllCases() throws Exception {
    assertThatCasesEndWell(Integer.getInteger("faults.count", ALL));
  }

  /** Returns whether partitions are those of a real network; else of a proxy. */
  private static boolean areNamespacesUsed() {
    String obstacle =
        Boolean.parseBoolean(System.getProperty("faults.namespaces", "true"))
            ? Namespaces.obstacle()
            : "-Dfaults.namespaces=false";
    System.out.println(
        obstacle.isEmpty()
            ? "Each process has a network namespace."
            : "No network namespaces, a proxy drops bytes instead: " + obstacle);
    return obstacle.isEmpty();
  }

  private static void assertThatCasesEndWell(int count) throws Exception {
    long seed = Long.getLong("faults.seed", System.nanoTime() >>> 20);
    int first = Integer.getInteger("faults.first", 0);
    DetectionTimes times = new DetectionTimes();
    List<String> wrong = new ArrayList<>();
    boolean namespaces = areNamespacesUsed();
    long start = System.nanoTime();
    int number = first;
    try (FaultRun run = new FaultRun(namespaces)) {
      while (number < first + count && wrong.size() < MOST_PROBLEMS) {
        FaultCase fault = FaultCase.of(seed, number);
        FaultRun.Result result = run.run(fault);
        System.out.println(result.text());
        if (result.problems().isEmpty()) {
          result.detectionMillis().ifPresent(millis -> times.add(fault, millis));
        } else {
          String problem = fault + ": " + String.join("; ", result.problems());
          System.out.println("  WRONG: " + problem);
          wrong.add(problem);
        }
        number++;
      }
    }
    System.out.printf(
        Locale.ROOT,
        "%d cases of seed %d in %d s, from the fault to the last exception in ms, median / maximum"
            + " (cases):%n%s",
        number - first,
        seed,
        Duration.ofNanos(System.nanoTime() - start).toSeconds(),
        times.table());
    assertThat(wrong).isEmpty();
  }
}
