package org.sparkcollectives.ddp;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.within;
import static org.sparkcollectives.ddp.PowerSgdSteps.random;
import static org.sparkcollectives.ddp.PowerSgdSteps.reduce;

import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongSupplier;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.sparkcollectives.DType;
import org.sparkcollectives.ProcessGroup;
import org.sparkcollectives.Tensor;
import org.sparkcollectives.spi.tensor.HostTensor;
import org.sparkcollectives.testing.GroupRuns;
import org.sparkcollectives.testing.LeakCheck;
import org.sparkcollectives.testing.Paths;

/** Tests the means that are sent as int8, what is left out of them, and when they are sent so. */
@ExtendWith(LeakCheck.class)
class BlockwiseInt8Test {

  private static final BlockwiseInt8Options ALWAYS =
      BlockwiseInt8Options.defaults().withBlockSize(16).withAlways(true);

  private static GivenBucket bucket(ProcessGroup group, DType type, float[] values) {
    HostTensor buffer = HostTensor.allocate(type, values.length);
    FloatElements.write(values, 0, buffer, 0, values.length);
    return new GivenBucket(group, buffer);
  }

  @ParameterizedTest
  @EnumSource(names = {"HEAP", "DETAIL", "SHM", "TCP", "MIXED"})
  void anyLengthIsAveragedToTheSameBitsOnAllRanks(Paths paths) {
    for (int ranks = 1; ranks <= 4; ranks++) {
      int size = ranks;
      List<float[][]> all =
          GroupRuns.run(
              ranks,
              paths,
              group -> {
                int[] lengths = {0, 1, 15, 16, 17, 63, 64, 65, 1000, 5000};
                float[][] means = new float[lengths.length][];
                for (int i = 0; i < lengths.length; i++) {
                  CommHook hook = new BlockwiseInt8(ALWAYS);
                  float[] own = random(group.rank(), 7, lengths[i]);
                  means[i] = reduce(hook, bucket(group, DType.FLOAT32, own));
                }
                return means;
              });
      for (int i = 0; i < all.get(0).length; i++) {
        float[] mean = all.get(0)[i];
        for (int rank = 1; rank < size; rank++) {
          assertThat(all.get(rank)[i]).isEqualTo(mean);
        }
        float[] exact = new float[mean.length];
        for (int rank = 0; rank < size; rank++) {
          add(exact, random(rank, 7, mean.length), 1.0 / size);
        }
        Numbers.assertClose(size + " ranks, length " + mean.length, mean, exact, 0.05f);
      }
    }
  }

  private static void add(float[] sum, float[] values, double factor) {
    for (int i = 0; i < sum.length; i++) {
      sum[i] += (float) (values[i] * factor);
    }
  }

  @ParameterizedTest
  @EnumSource(
      value = DType.class,
      names = {"FLOAT16", "BFLOAT16", "FLOAT32", "FLOAT64"})
  void whatAllStepsGiveAndWhatIsLeftAddUpToTheMeans(DType type) {
    int ranks = 3;
    int steps = 20;
    int count = 70;
    List<float[][]> all =
        GroupRuns.run(
            ranks,
            Paths.HEAP,
            group -> {
              BlockwiseInt8 hook = new BlockwiseInt8(ALWAYS);
              float[] given = new float[count];
              float[] contributed = new float[count];
              for (int step = 0; step < steps; step++) {
                float[] own = random(group.rank(), step, count);
                FloatElements.round(own, count, type);
                add(contributed, own, 1.0 / ranks);
                add(given, reduce(hook, bucket(group, type, own)), 1);
              }
              Map<String, Tensor> state = hook.state();
              float[] error = (float[]) state.get("parameter 0/error").array();
              return new float[][] {given, contributed, error};
            });
    float[] total = all.get(0)[0].clone();
    float[] expected = new float[count];
    for (float[][] each : all) {
      add(expected, each[1], 1);
      add(total, each[2], 1.0 / ranks);
    }
    // Halves are rounded once more, when the means are written.
    float tolerance = type == DType.BFLOAT16 ? 0.1f : type == DType.FLOAT16 ? 0.01f : 1e-4f;
    Numbers.assertClose(type.label(), total, expected, tolerance);
  }

  @Test
  void whatIsLeftIsAPartOfASumWhoseDivisorMayChange() {
    GroupRuns.run(
        2,
        Paths.HEAP,
        group -> {
          BlockwiseInt8 hook = new BlockwiseInt8(ALWAYS);
          float[] own = {127, 0.4f};
          float[] first = reduce(hook, bucket(group, DType.FLOAT32, own).withDivisor(2));
          assertThat(first).containsExactly(127, 0);
          // 0.4 of a mean over two is 0.2 of one over one.
          own = new float[] {0, 127};
          float[] second = reduce(hook, bucket(group, DType.FLOAT32, own).withDivisor(1));
          assertThat(second[1]).isCloseTo(254.4f, within(0.01f));
          return null;
        });
  }

  @Test
  void withoutErrorFeedbackNothingIsKept() {
    GroupRuns.run(
        2,
        Paths.HEAP,
        group -> {
          BlockwiseInt8 hook = new BlockwiseInt8(ALWAYS.withErrorFeedback(false));
          float[] own = random(group.rank(), 0, 50);
          float[] first = reduce(hook, bucket(group, DType.FLOAT32, own));
          assertThat(reduce(hook, bucket(group, DType.FLOAT32, own))).isEqualTo(first);
          assertThat(hook.state()).containsOnlyKeys("counts");
          return null;
        });
  }

  @ParameterizedTest
  @CsvSource({"NaN,0", "Infinity,1", "-Infinity,2", "3e38,-1"})
  void aNumberThatIsNotFiniteReachesAllRanksAndDoesNotComeBack(float value, int where) {
    GroupRuns.run(
        3,
        Paths.HEAP,
        group -> {
          BlockwiseInt8 hook = new BlockwiseInt8(ALWAYS);
          float[] own = random(group.rank(), 0, 100);
          if (where < 0 || group.rank() == where) {
            own[37] = value; // Of 3e38 only the sum is infinite.
          }
          float[] mean = reduce(hook, bucket(group, DType.FLOAT32, own));
          for (int i = 0; i < mean.length; i++) {
            assertThat(Float.isFinite(mean[i])).as("[%d]", i).isEqualTo(i / 16 != 2);
          }
          mean = reduce(hook, bucket(group, DType.FLOAT32, random(group.rank(), 1, 100)));
          for (float each : mean) {
            assertThat(each).isFinite();
          }
          return null;
        });
  }

  /** A clock by which the two ways take these times, in turn. */
  private static LongSupplier clock(long compressed, long plain) {
    AtomicLong reading = new AtomicLong();
    AtomicLong now = new AtomicLong();
    return () -> {
      long number = reading.getAndIncrement();
      if (number % 4 == 1) {
        return now.addAndGet(compressed);
      }
      return number % 4 == 3 ? now.addAndGet(plain) : now.get();
    };
  }

  @ParameterizedTest
  @CsvSource({"100,400,290,400,true", "100,400,310,400,false", "500,400,500,400,false"})
  void allRanksCompressAfterSomeStepsIfItIsFasterForAll(
      long compressed, long plain, long compressedOther, long plainOther, boolean faster) {
    GroupRuns.run(
        2,
        Paths.HEAP,
        group -> {
          LongSupplier clock =
              group.rank() == 0 ? clock(compressed, plain) : clock(compressedOther, plainOther);
          BlockwiseInt8 hook = new BlockwiseInt8(ALWAYS.withAlways(false), clock);
          for (int step = 0; step < Int8Choice.STEPS + 3; step++) {
            float[] own = random(group.rank(), step, 1000);
            float[] exact = random(0, step, 1000);
            add(exact, random(1, step, 1000), 1);
            for (int i = 0; i < exact.length; i++) {
              exact[i] /= 2;
            }
            // Two buckets of a size in each step.
            for (int index = 0; index < 2; index++) {
              GivenBucket bucket =
                  bucket(group, DType.FLOAT32, own)
                      .withIndex(index, 2)
                      .withFirstParameter(index)
                      .withStep(step);
              float[] mean = reduce(hook, bucket);
              assertThat(Arrays.equals(mean, exact)).isEqualTo(step < Int8Choice.STEPS || !faster);
              Numbers.assertClose("step " + step, mean, exact, 0.06f);
            }
          }
          double rate = hook.compressionRate();
          if (faster) {
            assertThat(rate).isBetween(1.1, 1.3);
          } else {
            assertThat(rate).isEqualTo(1);
          }
          return null;
        });
  }

  @Test
  void aTrainingGoesOnFromASavedStateToTheBit() {
    GroupRuns.run(
        2,
        Paths.HEAP,
        group -> {
          BlockwiseInt8 whole = new BlockwiseInt8(ALWAYS);
          for (int step = 0; step < 3; step++) {
            reduce(whole, bucket(group, DType.FLOAT32, random(group.rank(), step, 90)));
          }
          BlockwiseInt8 second = new BlockwiseInt8(ALWAYS);
          Map<String, Tensor> saved = whole.state();
          second.restore(saved);
          for (int step = 3; step < 6; step++) {
            float[] own = random(group.rank(), step, 90);
            assertThat(reduce(second, bucket(group, DType.FLOAT32, own)))
                .isEqualTo(reduce(whole, bucket(group, DType.FLOAT32, own)));
          }
          assertThatThrownBy(() -> second.restore(saved))
              .isInstanceOf(IllegalStateException.class)
              .hasMessageContaining("before its first step");
          // Where int8 is not used, what is left is added to the plain mean.
          BlockwiseInt8 plain = new BlockwiseInt8(ALWAYS.withAlways(false), clock(500, 400));
          plain.restore(saved);
          float[] mean = reduce(plain, bucket(group, DType.FLOAT32, new float[90]));
          float[] left = ((float[]) saved.get("parameter 0/error").array()).clone();
          Tensor sum = Tensor.of(left);
          group.allReduce(sum).await();
          for (int i = 0; i < 90; i++) {
            assertThat(mean[i]).isCloseTo(left[i] / 2, within(1e-6f));
          }
          assertThat(plain.state()).containsOnlyKeys("counts");
          return null;
        });
  }

  @Test
  void whatIsLeftMovesWithItsParameterToOtherBuckets() {
    GroupRuns.run(
        2,
        Paths.HEAP,
        group -> {
          BlockwiseInt8 hook = new BlockwiseInt8(ALWAYS);
          float[] own = random(group.rank(), 0, 30);
          reduce(hook, bucket(group, DType.FLOAT32, own).withIndex(0, 2));
          reduce(
              hook,
              bucket(group, DType.FLOAT32, own).withIndex(1, 2).withFirstParameter(1).withStep(0));
          Map<String, Tensor> before = hook.state();
          GivenBucket both =
              new GivenBucket(group, Tensor.of(new float[60]), new long[] {30}, new long[] {30})
                  .withStep(1);
          float[] mean = reduce(hook, both);
          float[] expected = (float[]) before.get("parameter 1/error").array();
          group.allReduce(Tensor.of(expected)).await();
          for (int i = 0; i < 30; i++) {
            assertThat(mean[30 + i]).isCloseTo(expected[i] / 2, within(1e-3f));
          }
          return null;
        });
  }

  @Test
  void aStateThatIsNoneOrOfAnotherModelIsRefused() {
    GroupRuns.run(
        1,
        Paths.HEAP,
        group -> {
          BlockwiseInt8 hook = new BlockwiseInt8(ALWAYS);
          Map<String, Tensor> right =
              Map.of(
                  "counts", Tensor.of(1L),
                  "parameter 0/error", Tensor.of(new float[5]),
                  "parameter 0/divisor", Tensor.of(2.0));
          for (String key : List.of("counts", "parameter 0/divisor", "parameter 0/error", "else")) {
            Map<String, Tensor> wrong = new HashMap<>(right);
            wrong.put(key, Tensor.of(1));
            assertThatThrownBy(() -> hook.restore(wrong))
                .isInstanceOf(IllegalArgumentException.class)
                .hasMessageContaining(key);
          }
          hook.restore(right);
          assertThatThrownBy(() -> reduce(hook, bucket(group, DType.FLOAT32, new float[6])))
              .isInstanceOf(IllegalStateException.class)
              .hasMessageContaining("5 elements for parameter 0, whose gradient has 6");
          return null;
        });
  }

  @Test
  void ranksWithDifferentOptionsAndOtherElementsAreRefused() {
    GroupRuns.run(
        2,
        Paths.HEAP,
        group -> {
          CommHook hook = new BlockwiseInt8(ALWAYS.withBlockSize(16 + group.rank()));
          assertThatThrownBy(() -> reduce(hook, bucket(group, DType.FLOAT32, new float[6])))
              .isInstanceOf(IllegalArgumentException.class)
              .hasMessageContaining("blockSize 16")
              .hasMessageContaining("blockSize 17");
          assertThatThrownBy(
                  () -> new BlockwiseInt8(ALWAYS).run(new GivenBucket(group, Tensor.of(1))))
              .isInstanceOf(IllegalArgumentException.class)
              .hasMessageContaining("Compression to int8 takes gradients of float16");
          return null;
        });
  }

  @ParameterizedTest
  @ValueSource(ints = {15, 1025, -1})
  void aBlockIsNeitherTooSmallNorTooLarge(int size) {
    assertThatThrownBy(() -> ALWAYS.withBlockSize(size))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage("A block has 16 to 1024 elements, not " + size);
  }
}
