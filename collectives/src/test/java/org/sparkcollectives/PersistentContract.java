package org.sparkcollectives;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Specifies persistent collectives: each start is the plain call, on the same tensors. */
interface PersistentContract extends RanksUnderTest {

  /** Fits slots, fits them in parts, is staged or sent, and is cut in stripes. */
  List<Integer> COUNTS = List.of(0, 1, 250, 3_000, 60_000);

  int STARTS = 3;

  /** The memory of the tensors. */
  enum Memory {
    ARRAY,
    DIRECT,
    GROUP;

    Tensor allocate(ProcessGroup group, long count) {
      return switch (this) {
        case ARRAY -> Tensor.allocate(DType.FLOAT32, count);
        case DIRECT ->
            Tensor.wrap(
                DType.FLOAT32,
                ByteBuffer.allocateDirect((int) count * Float.BYTES)
                    .order(ByteOrder.nativeOrder()));
        case GROUP -> group.allocate(DType.FLOAT32, count);
      };
    }
  }

  /** The tensors of one collective: it reads the one, and writes the other; both may be one. */
  record Tensors(Tensor input, Tensor output) {

    void fill(int rank, int step) {
      float[] values = new float[(int) input.count()];
      for (int i = 0; i < values.length; i++) {
        // Sevenths, so that the order of the additions decides the bits.
        values[i] = ((i * 37 + rank * 11 + step) % 101 - 50) / 7F;
      }
      input.copyFrom(values);
    }

    float[] result() {
      float[] values = new float[(int) output.count()];
      output.copyTo(values);
      return values;
    }
  }

  /** A collective in both forms. */
  enum Kind {
    ALL_REDUCE(false, false),
    BROADCAST(false, false),
    ALL_GATHER(false, true),
    ALL_GATHER_LIST(false, true),
    REDUCE_SCATTER(true, false),
    REDUCE_SCATTER_LIST(true, false),
    GATHER(false, true);

    private final boolean inParts;
    private final boolean outParts;

    Kind(boolean inParts, boolean outParts) {
      this.inParts = inParts;
      this.outParts = outParts;
    }

    Tensors tensors(ProcessGroup group, Memory memory, int count) {
      Tensor input = memory.allocate(group, inParts ? (long) count * group.size() : count);
      boolean inPlace = this == ALL_REDUCE || this == BROADCAST;
      return new Tensors(
          input,
          inPlace ? input : memory.allocate(group, outParts ? (long) count * group.size() : count));
    }

    private static List<Tensor> parts(ProcessGroup group, Tensor whole) {
      List<Tensor> parts = new ArrayList<>();
      long count = whole.count() / group.size();
      for (int rank = 0; rank < group.size(); rank++) {
        parts.add(whole.slice(rank * count, count));
      }
      return parts;
    }

    private static List<Tensor> partsAtRoot(ProcessGroup group, Tensor whole) {
      return group.rank() == root(group) ? parts(group, whole) : List.of();
    }

    private static int root(ProcessGroup group) {
      return group.size() - 1;
    }

    Work call(ProcessGroup group, Tensors tensors) {
      return switch (this) {
        case ALL_REDUCE -> group.allReduce(tensors.input, ReduceOp.AVG);
        case BROADCAST -> group.broadcast(tensors.input, root(group));
        case ALL_GATHER -> group.allGather(tensors.output, tensors.input);
        case REDUCE_SCATTER -> group.reduceScatter(tensors.output, tensors.input);
        case ALL_GATHER_LIST -> group.allGather(parts(group, tensors.output), tensors.input);
        case REDUCE_SCATTER_LIST ->
            group.reduceScatter(tensors.output, parts(group, tensors.input));
        case GATHER -> group.gather(partsAtRoot(group, tensors.output), tensors.input, root(group));
      };
    }

    PersistentCollective prepare(ProcessGroup group, Tensors tensors) {
      return switch (this) {
        case ALL_REDUCE -> group.allReduceInit(tensors.input, ReduceOp.AVG);
        case BROADCAST -> group.broadcastInit(tensors.input, root(group));
        case ALL_GATHER -> group.allGatherInit(tensors.output, tensors.input);
        case REDUCE_SCATTER -> group.reduceScatterInit(tensors.output, tensors.input);
        case ALL_GATHER_LIST -> group.allGatherInit(parts(group, tensors.output), tensors.input);
        case REDUCE_SCATTER_LIST ->
            group.reduceScatterInit(tensors.output, parts(group, tensors.input));
        case GATHER ->
            group.gatherInit(partsAtRoot(group, tensors.output), tensors.input, root(group));
      };
    }
  }

  @ParameterizedTest
  @ValueSource(ints = {1, 3})
  default void eachStartHasTheBitsOfThePlainCallOnWhatTheTensorsThenHold(int size) {
    ranks(
        size,
        group -> {
          for (Memory memory : Memory.values()) {
            for (int count : COUNTS) {
              for (Kind kind : Kind.values()) {
                Tensors plain = kind.tensors(group, memory, count);
                Tensors persistent = kind.tensors(group, memory, count);
                try (PersistentCollective collective = kind.prepare(group, persistent)) {
                  for (int step = 0; step < STARTS; step++) {
                    plain.fill(group.rank(), step);
                    persistent.fill(group.rank(), step);
                    kind.call(group, plain).await();
                    collective.start().await();
                    assertThat(persistent.result())
                        .as("%s of %s floats in %s, start %s", kind, count, memory, step)
                        .isEqualTo(plain.result());
                  }
                }
              }
            }
          }
          return null;
        });
  }

  @Test
  default void aStartMatchesThePlainCallsOfOtherRanks() {
    ranks(
        3,
        group -> {
          for (int count : COUNTS) {
            for (Kind kind : Kind.values()) {
              Tensors tensors = kind.tensors(group, Memory.ARRAY, count);
              Tensors expected = kind.tensors(group, Memory.ARRAY, count);
              PersistentCollective collective = kind.prepare(group, tensors);
              for (int step = 0; step < STARTS; step++) {
                tensors.fill(group.rank(), step);
                expected.fill(group.rank(), step);
                boolean starts = group.rank() == step;
                (starts ? collective.start() : kind.call(group, tensors)).await();
                kind.call(group, expected).await();
                assertThat(tensors.result()).isEqualTo(expected.result());
              }
            }
          }
          return null;
        });
  }

  @Test
  default void severalMayBeUnderWayAmongOtherCollectives() {
    ranks(
        3,
        group -> {
          float[] first = {1};
          float[] second = {10};
          int[] plain = {100};
          PersistentCollective ofFirst = group.allReduceInit(Tensor.of(first));
          PersistentCollective ofSecond = group.allReduceInit(Tensor.of(second), ReduceOp.MAX);
          for (int step = 0; step < STARTS; step++) {
            Work[] works = {
              ofFirst.start(), group.allReduce(Tensor.of(plain)), ofSecond.start(), group.barrier()
            };
            for (Work each : works) {
              each.await();
            }
          }
          assertThat(first).containsExactly(27);
          assertThat(second).containsExactly(10);
          assertThat(plain).containsExactly(2_700);
          return null;
        });
  }

  @Test
  default void aStartHasItsOwnNumberRecordDeadlineAndPartInTheStatistics() {
    ranks(
        2,
        group -> {
          Tensor tensor = Tensor.allocate(DType.FLOAT32, 1000);
          group.allReduce(tensor).await();
          PersistentCollective sum =
              group.withTimeout(Duration.ofSeconds(77)).allReduceInit(tensor);
          for (int step = 1; step <= STARTS; step++) {
            Work work = sum.start();
            work.await();
            assertThat(work.sequenceNumber()).isEqualTo(step);
            assertThat(work.opType()).isEqualTo(OpType.ALL_REDUCE);
            assertThat(work.isSuccess()).isTrue();
            assertThat(work.future().join()).containsExactly(tensor);
            assertThat(work.durationMillis()).isPresent();
          }
          List<FlightRecord> records = group.flightRecorder().records();
          FlightRecord last = records.get(records.size() - 1);
          assertThat(last.sequenceNumber()).isEqualTo(STARTS);
          assertThat(last.state()).isEqualTo(FlightRecord.State.COMPLETED);
          assertThat(last.describe()).contains("all-reduce #3 (float32 x 1000, SUM)");
          assertThat(last.timeoutMillis()).isEqualTo(77_000);
          assertThat(records.get(0).timeoutMillis()).isEqualTo(group.timeout().toMillis());
          GroupStatistics statistics = group.statistics();
          assertThat(statistics.operations()).isEqualTo(1 + STARTS);
          assertThat(statistics.bytes()).isEqualTo((1 + STARTS) * 4000L);
          // One row: the algorithm is that of the plain call.
          assertThat(statistics.byOperation()).hasSize(1);
          assertThat(statistics.byOperation().get(0).algorithm()).isNotEmpty();
          return null;
        });
  }

  @Test
  default void aSecondStartIsRefusedUntilTheFirstIsDoneAndTheGroupGoesOn() {
    ranks(
        2,
        group -> {
          float[] data = {1, 2, 3};
          PersistentCollective sum = group.allReduceInit(Tensor.of(data));
          if (group.rank() == 0) {
            Work first = sum.start();
            assertThatIllegalStateException()
                .isThrownBy(sum::start)
                .withMessageStartingWith(
                    "Rank 0 of group \""
                        + group.name()
                        + "\" cannot start the persistent all-reduce (float32 x 3, SUM): ")
                .withMessageContaining("its last start, #0, is not done");
            group.store().set("refused", new byte[0]);
            first.await();
          } else {
            group.store().get("refused");
            sum.start().await();
          }
          Work second = sum.start();
          second.await();
          assertThat(second.sequenceNumber()).isEqualTo(1);
          assertThat(data).containsExactly(4, 8, 12);
          return null;
        });
  }

  @Test
  default void aCloseRefusesFurtherStartsAndLeavesTheOneUnderWay() {
    ranks(
        2,
        group -> {
          int[] data = {1};
          PersistentCollective sum = group.allReduceInit(Tensor.of(data));
          Work work = sum.start();
          sum.close();
          sum.close();
          work.await();
          assertThat(data).containsExactly(2);
          assertThatIllegalStateException()
              .isThrownBy(sum::start)
              .withMessage(
                  "Rank "
                      + group.rank()
                      + " of group \""
                      + group.name()
                      + "\" cannot start the persistent all-reduce (int32 x 1, SUM): it is closed");
          group.allReduce(Tensor.of(data)).await();
          assertThat(data).containsExactly(4);
          return null;
        });
  }

  @Test
  default void aWrongArgumentIsRefusedWhenItIsPreparedAndTakesNoNumber() {
    ranks(
        2,
        group -> {
          Tensor two = Tensor.of(1f, 2f);
          Tensor four = Tensor.of(1f, 2f, 3f, 4f);
          assertThatIllegalArgumentException()
              .isThrownBy(() -> group.allReduceInit(two, ReduceOp.BAND))
              .withMessageContaining("BAND is not defined for float32");
          assertThatIllegalArgumentException()
              .isThrownBy(() -> group.allReduceInit(null))
              .withMessageContaining("the tensor is null");
          assertThatIllegalArgumentException()
              .isThrownBy(() -> group.broadcastInit(two, 2))
              .withMessageContaining("the root must be 0 to 1, not 2");
          assertThatIllegalArgumentException()
              .isThrownBy(() -> group.allGatherInit(two, two))
              .withMessageContaining("the output must have 2 times the elements of the input");
          assertThatIllegalArgumentException()
              .isThrownBy(() -> group.reduceScatterInit(four.slice(1, 2), four))
              .withMessageContaining("output and input share memory");
          assertThatIllegalArgumentException()
              .isThrownBy(() -> group.gatherInit(List.of(two), two, 0))
              .withMessageContaining("outputs");
          PersistentCollective sum = group.allReduceInit(two);
          Work work = sum.start();
          work.await();
          assertThat(work.sequenceNumber()).isZero();
          return null;
        });
  }

  @Test
  default void startsInABlockAreAwaitedAsOne() {
    ranks(
        3,
        group -> {
          int[] sum = {1};
          int[] all = new int[3];
          PersistentCollective reduced = group.allReduceInit(Tensor.of(sum));
          PersistentCollective gathered =
              group.allGatherInit(Tensor.of(all), Tensor.of(group.rank()));
          for (int step = 0; step < STARTS; step++) {
            Coalescing block = group.coalesce();
            try (block) {
              reduced.start();
              gathered.start();
            }
            block.work().await();
          }
          assertThat(sum).containsExactly(27);
          assertThat(all).containsExactly(0, 1, 2);
          return null;
        });
  }

  @Test
  default void subgroupsHaveTheirOwn() {
    ranks(
        4,
        world -> {
          ProcessGroup pair = world.split(world.rank() % 2, 0, GroupOptions.defaults());
          double[] inPair = {world.rank()};
          double[] inWorld = {1};
          PersistentCollective ofPair = pair.allReduceInit(Tensor.of(inPair));
          PersistentCollective ofWorld = world.allReduceInit(Tensor.of(inWorld));
          for (int step = 0; step < STARTS; step++) {
            ofPair.start().await();
            ofWorld.start().await();
          }
          assertThat(inPair).containsExactly((world.rank() % 2 == 0 ? 2 : 4) * 4);
          assertThat(inWorld).containsExactly(64);
          pair.close();
          assertThatIllegalStateException()
              .isThrownBy(ofPair::start)
              .withMessageContaining("closed");
          ofWorld.start().await();
          return null;
        });
  }

  @Test
  default void eachStartLooksForNumbersThatAreNone() {
    ranks(
        2,
        group -> {
          float[] data = {1};
          PersistentCollective sum = group.allReduceInit(Tensor.of(data));
          group.setNanCheck(true);
          sum.start().await();
          data[0] = Float.NaN;
          assertThatIllegalArgumentException()
              .isThrownBy(sum::start)
              .withMessageContaining("is not a number");
          data[0] = 3;
          Work work = sum.start();
          work.await();
          assertThat(work.sequenceNumber()).isEqualTo(1);
          assertThat(data).containsExactly(6);
          return null;
        });
  }

  @Test
  default void aNewTimeoutAndAnExtensionAreThoseOfTheStart() {
    ranks(
        2,
        group -> {
          PersistentCollective sum = group.allReduceInit(Tensor.of(1f));
          sum.start().await();
          group.extendTimeout(Duration.ofSeconds(5));
          sum.start().await();
          sum.start().await();
          long usual = group.timeout().toMillis();
          assertThat(group.flightRecorder().records())
              .extracting(FlightRecord::timeoutMillis)
              .containsExactly(usual, usual + 5_000, usual);
          return null;
        });
  }

  @Test
  default void theAlgorithmsAreThoseThatAreExplained() {
    ranks(
        4,
        group -> {
          for (int count : COUNTS) {
            Tensor tensor = Tensor.allocate(DType.FLOAT32, count);
            try (PersistentCollective sum = group.allReduceInit(tensor)) {
              sum.start().await();
            }
          }
          Set<String> explained =
              group.explain().choices().stream()
                  .filter(choice -> choice.collective() == OpType.ALL_REDUCE)
                  .map(AlgorithmChoices.Choice::algorithm)
                  .collect(Collectors.toSet());
          assertThat(group.statistics().byOperation())
              .extracting(OperationStatistics::algorithm)
              .isSubsetOf(explained);
          return null;
        });
  }
}
