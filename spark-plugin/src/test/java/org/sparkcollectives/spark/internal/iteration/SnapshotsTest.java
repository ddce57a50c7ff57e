package org.sparkcollectives.spark.internal.iteration;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.NotSerializableException;
import java.io.ObjectOutputStream;
import java.io.Serializable;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.sparkcollectives.spark.iteration.Contribution;
import org.sparkcollectives.spark.iteration.IterationResult;

/** Tests the checkpoints of a loop, whose ranks are threads. */
class SnapshotsTest extends LoopsOfThreads {

  /** A loop whose rank 1 fails in an iteration, if it is told to. */
  private static final class Interrupted {
    private final Set<Integer> computed = ConcurrentHashMap.newKeySet();
    private volatile int failing;

    double[] contribution(double[] state, int data, int iteration) {
      if (data == 2 && iteration == failing) {
        throw new IllegalStateException("lost");
      }
      computed.add(iteration);
      return numbers(data / (1 + state[0]), state[0] / (3 + data));
    }

    IterationFunctions<double[], Integer> functions() {
      return new IterationFunctions<>(
          this::contribution,
          (state, sum, i) -> numbers(sum[0], sum[1] + i),
          null,
          (state, sum, i) -> sum[0] / 7);
    }
  }

  @Test
  void ranksThatStartAgainGoOnFromTheLastCheckpointToTheSameBits() {
    IterationResult<double[]> expected =
        result(new Interrupted().functions(), 10, 0, numbers(0.1, 0));
    Interrupted interrupted = new Interrupted();
    for (int failing : new int[] {9, 8}) {
      interrupted.failing = failing;
      interrupted.computed.clear();
      ranks(
          group -> {
            assertThatThrownBy(() -> loop(group, interrupted.functions(), 10, 3, numbers(0.1, 0)))
                .satisfies(group::abort);
            return null;
          });
    }
    assertThat(interrupted.computed).contains(7).isSubsetOf(7, 8);
    interrupted.failing = 0;
    interrupted.computed.clear();
    IterationResult<double[]> result = result(interrupted.functions(), 10, 3, numbers(0.1, 0));
    assertThat(interrupted.computed).containsExactlyInAnyOrder(7, 8, 9, 10);
    assertThat(result.state()).isEqualTo(expected.state());
    assertThat(result.losses()).isEqualTo(expected.losses()).hasSize(10);
    assertThat(result.iterations()).isEqualTo(10);
  }

  @Test
  void whatTheStoreRefusesDoesNotEndTheLoop() {
    IterationResult<double[]> expected = result(functions(OWN, MEAN), 5, 0, numbers(10));
    List<Optional<IterationResult<double[]>>> results =
        ranks(
            group ->
                loop(
                    RefusingGroup.of(group, "checkpoint", "restore"),
                    functions(OWN, MEAN),
                    5,
                    1,
                    numbers(10)));
    assertThat(results.get(0).orElseThrow().state()).isEqualTo(expected.state());
  }

  /** A superclass whose fields Java serialization does not write, and which it cannot create. */
  private static class Part {
    final double value;

    Part(double value) {
      this.value = value;
    }
  }

  /** A state that Java serialization writes, and cannot read. */
  private static final class Unreadable extends Part implements Serializable {
    private static final long serialVersionUID = 1;

    Unreadable(double value) {
      super(value);
    }
  }

  @Test
  void whatCannotBeReadDoesNotEndTheLoop() {
    AtomicInteger failing = new AtomicInteger(3);
    Contribution<Unreadable, Integer> own =
        (state, data, i) -> {
          if (data == 2 && i == failing.get()) {
            throw new IllegalStateException("lost");
          }
          return numbers(data);
        };
    IterationFunctions<Unreadable, Integer> functions =
        functions(own, (state, sum, i) -> new Unreadable(state.value + sum[0]));
    failures(functions, 1, new Unreadable(1));
    failing.set(0);
    IterationResult<Unreadable> result = result(functions, 4, 1, new Unreadable(1));
    assertThat(result.state().value).isEqualTo(25);
  }

  /** A state that reaches the ranks, and cannot be written once more for a snapshot. */
  private static final class WrittenOnce implements Serializable {
    private static final long serialVersionUID = 1;

    final double value;
    private final transient Throwable thrown;
    private transient boolean written;

    WrittenOnce(double value, Throwable thrown) {
      this.value = value;
      this.thrown = thrown;
    }

    private void writeObject(ObjectOutputStream out) throws Throwable {
      if (written) {
        throw thrown;
      }
      written = true;
      out.defaultWriteObject();
    }
  }

  private static Stream<Throwable> thrownByStates() {
    return Stream.of(
        new NotSerializableException("a socket"),
        new IllegalStateException("closed"),
        new NoClassDefFoundError("Missing"),
        new StackOverflowError());
  }

  @ParameterizedTest
  @MethodSource("thrownByStates")
  void whatCannotBeWrittenDoesNotEndTheLoop(Throwable thrown) {
    AtomicInteger failing = new AtomicInteger(3);
    Contribution<WrittenOnce, Integer> own =
        (state, data, i) -> {
          if (data == 2 && i == failing.get()) {
            throw new IllegalStateException("lost");
          }
          return numbers(data);
        };
    IterationFunctions<WrittenOnce, Integer> functions =
        functions(own, (state, sum, i) -> new WrittenOnce(state.value + sum[0], thrown));
    failures(functions, 1, new WrittenOnce(1, thrown));
    failing.set(0);
    IterationResult<WrittenOnce> result = result(functions, 4, 1, new WrittenOnce(1, thrown));
    assertThat(result.state().value).isEqualTo(25);
  }
}
