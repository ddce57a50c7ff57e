package org.sparkcollectives.conformance;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.Arrays;
import java.util.EnumSet;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;
import org.junit.jupiter.api.DynamicTest;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestFactory;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.sparkcollectives.DType;
import org.sparkcollectives.Work;
import org.sparkcollectives.testing.GroupRuns;
import org.sparkcollectives.testing.LeakCheck;
import org.sparkcollectives.testing.Paths;

/**
 * Tests one operation with every type, reduction, world size, size and memory: all cases over the
 * fastest path, a pairwise sample over others, and with {@code -Pconformance} all cases over these.
 */
@ExtendWith(LeakCheck.class)
abstract class OperationConformanceTest implements Operation {

  /** The paths beside the fastest; the contracts run over the rest. */
  private static final Set<Paths> OTHERS =
      EnumSet.of(
          Paths.TCP,
          Paths.STRIPED,
          Paths.MIXED,
          Paths.GROWING,
          Paths.INTERLEAVED,
          Paths.SHM,
          Paths.TLS);

  static Set<Paths> otherPaths() {
    return OTHERS;
  }

  @TestFactory
  Stream<DynamicTest> everyCaseConformsOverTheFastestPath() {
    List<ConformanceCase> all = cases();
    return ConformanceCase.WORLDS.stream()
        .map(
            world -> {
              List<ConformanceCase> cases = ConformanceCase.ofWorld(all, world);
              return DynamicTest.dynamicTest(
                  cases.size() + " cases, " + world + " ranks",
                  () -> CaseRunner.onThreads(this, Paths.HEAP, world, cases));
            });
  }

  @ParameterizedTest
  @MethodSource("otherPaths")
  void aSampleOfTheCasesConformsOver(Paths paths) {
    List<ConformanceCase> sample = sample();
    for (int world : ConformanceCase.WORLDS) {
      CaseRunner.onThreads(this, paths, world, ConformanceCase.ofWorld(sample, world));
    }
  }

  @Tag("full")
  @TestFactory
  Stream<DynamicTest> everyCaseConformsOverOtherPaths() {
    List<ConformanceCase> all = cases();
    return OTHERS.stream()
        .flatMap(
            paths ->
                Arrays.stream(DType.values())
                    .flatMap(
                        dtype ->
                            ConformanceCase.WORLDS.stream()
                                .map(world -> everyCase(paths, dtype, world, all))));
  }

  private DynamicTest everyCase(Paths paths, DType dtype, int world, List<ConformanceCase> all) {
    return DynamicTest.dynamicTest(
        paths + ", " + dtype.label() + ", " + world + " ranks",
        () ->
            CaseRunner.onThreads(
                this,
                paths,
                world,
                ConformanceCase.ofWorld(all, world).stream()
                    .filter(each -> each.dtype() == dtype)
                    .toList()));
  }

  @Test
  void whatATypeDoesNotSupportIsRefusedAndTheGroupGoesOn() {
    int world = 2;
    GroupRuns.run(
        world,
        Paths.HEAP.options(),
        group -> {
          Arena arena = new Arena();
          for (DType dtype : DType.values()) {
            for (Reduction reduction : reductions()) {
              if (reduction == null || reduction.supports(dtype)) {
                continue;
              }
              ConformanceCase refused =
                  new ConformanceCase(
                      dtype, reduction, world, CaseSize.ONE, Memory.HEAP_SLICE, false);
              assertThatThrownBy(() -> check(new CaseRun(group, refused, arena, true)))
                  .as("%s", refused)
                  .isInstanceOf(IllegalArgumentException.class)
                  .hasMessageContaining(
                      reduction.of(group.rank()) + " is not defined for " + dtype.label());
            }
          }
          Work next = group.barrier();
          next.await();
          assertThat(next.sequenceNumber()).isZero();
          return null;
        });
  }

  @Test
  void theSampleHasEveryTypeReductionSizeAndMemory() {
    Set<Object> sampled = new HashSet<>();
    sample().forEach(each -> sampled.addAll(each.factors()));
    Set<Object> all = new HashSet<>();
    cases().forEach(each -> all.addAll(each.factors()));
    assertThat(sampled).isEqualTo(all);
    assertThat(cases()).containsAll(sample()).hasSizeGreaterThanOrEqualTo(sample().size());
  }
}
