package org.sparkcollectives.reproducible;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.math.BigDecimal;
import java.nio.ByteBuffer;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.HexFormat;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.sparkcollectives.DType;
import org.sparkcollectives.ProcessGroup;
import org.sparkcollectives.Tensor;
import org.sparkcollectives.testing.GroupRuns;
import org.sparkcollectives.testing.InvocationName;
import org.sparkcollectives.testing.LeakCheck;
import org.sparkcollectives.testing.Paths;

@ExtendWith({LeakCheck.class, InvocationName.class})
class ReproducibleSumTest {

  /** Three blocks, the last of them with one element. */
  private static final int LENGTH = 2049;

  private final long seed = new Random().nextLong();
  private final Random random = new Random(seed);

  /**
   * Rows whose plain sums depend on the order: of many magnitudes, which differ between columns.
   */
  private List<double[]> rows(int count) {
    List<double[]> rows = new ArrayList<>();
    for (int i = 0; i < count; i++) {
      double[] row = new double[LENGTH];
      for (int k = 0; k < LENGTH; k++) {
        int magnitude = k % 7 * 50 - 200 + random.nextInt(60);
        row[k] = random.nextInt(8) == 0 ? 0 : Math.scalb(random.nextGaussian(), magnitude);
      }
      rows.add(row);
    }
    return rows;
  }

  private static String digest(double[] values) {
    ByteBuffer bytes = ByteBuffer.allocate(values.length * Double.BYTES);
    bytes.asDoubleBuffer().put(values);
    try {
      return HexFormat.of().formatHex(MessageDigest.getInstance("SHA-256").digest(bytes.array()));
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException(e);
    }
  }

  private static double[] sumOf(List<double[]> rows) {
    ReproducibleSum sum = ReproducibleSum.ofLength(rows.get(0).length);
    rows.forEach(each -> sum.add(Tensor.of(each)));
    double[] result = new double[rows.get(0).length];
    sum.get(Tensor.of(result));
    return result;
  }

  private static double[] sumOf(double... terms) {
    return sumOf(Arrays.stream(terms).mapToObj(each -> new double[] {each}).toList());
  }

  @ParameterizedTest
  @EnumSource(names = {"HEAP", "SHM", "TCP", "TLS", "MIXED", "NODES"})
  void theBitsDependOnNeitherRanksNorOrder(Paths paths) {
    List<double[]> rows = rows(100);
    String expected = digest(sumOf(rows));
    for (int ranks : new int[] {1, 2, 3, 5, 7}) {
      Collections.shuffle(rows, random);
      // Some ranks have many rows, others none.
      int[] owner = random.ints(rows.size(), 0, 1 + random.nextInt(ranks)).toArray();
      List<String> digests =
          GroupRuns.run(
              ranks,
              paths,
              group -> {
                ReproducibleSum sum = ReproducibleSum.ofLength(LENGTH);
                for (int i = 0; i < owner.length; i++) {
                  if (owner[i] == group.rank()) {
                    sum.add(Tensor.of(rows.get(i)));
                  }
                }
                double[] result = new double[LENGTH];
                sum.allReduce(group, Tensor.of(result));
                return digest(result);
              });
      assertThat(digests)
          .as("%d ranks, seed %d", ranks, seed)
          .hasSize(ranks)
          .containsOnly(expected);
    }
  }

  @Test
  void oneToSixteenRanksHaveTheSameBits() {
    List<double[]> rows = rows(48);
    String expected = digest(sumOf(rows));
    for (int ranks = 1; ranks <= 16; ranks++) {
      int size = ranks;
      assertThat(
              GroupRuns.run(
                  ranks,
                  Paths.HEAP,
                  group -> {
                    ReproducibleSum sum = ReproducibleSum.ofLength(LENGTH);
                    for (int i = group.rank(); i < rows.size(); i += size) {
                      sum.add(Tensor.of(rows.get(i)));
                    }
                    double[] result = new double[LENGTH];
                    sum.allReduce(group, Tensor.of(result));
                    return digest(result);
                  }))
          .as("%d ranks, seed %d", ranks, seed)
          .containsOnly(expected);
    }
  }

  @Test
  void longSumsAreSentInSeveralMessages() {
    int length = 3 * SumMessage.BLOCKS * BinnedBlock.LENGTH + 5;
    for (double[] each :
        GroupRuns.run(
            2,
            Paths.HEAP,
            group -> {
              double[] values = new double[length];
              Arrays.setAll(values, i -> group.rank() == 0 ? i : 0x1p-40 * i);
              ReproducibleSum.allReduceInPlace(group, Tensor.of(values));
              return values;
            })) {
      for (int i = 0; i < length; i++) {
        assertThat(each[i]).isEqualTo(1.0 * i + 0x1p-40 * i);
      }
    }
  }

  @Test
  void partialSumsMayBeAddedUp() {
    List<double[]> rows = rows(60);
    ReproducibleSum[] parts = new ReproducibleSum[5];
    Arrays.setAll(parts, i -> ReproducibleSum.ofLength(LENGTH));
    for (double[] row : rows) {
      parts[random.nextInt(parts.length)].add(Tensor.of(row));
    }
    ReproducibleSum sum = ReproducibleSum.ofLength(LENGTH);
    for (ReproducibleSum each : parts) {
      sum.add(each);
    }
    double[] result = new double[LENGTH];
    sum.get(Tensor.of(result));
    assertThat(result).as("seed %d", seed).isEqualTo(sumOf(rows));
    assertThat(sum.terms()).isEqualTo(60);
  }

  @Test
  void theErrorIsWithinTheBoundThatIsStated() {
    for (int round = 0; round < 200; round++) {
      int terms = 1 + random.nextInt(50);
      int spread = 1 + random.nextInt(120);
      int around = random.nextInt(1600) - 800;
      double[] numbers = new double[terms];
      Arrays.setAll(
          numbers, i -> Math.scalb(random.nextGaussian(), around + random.nextInt(spread)));
      BigDecimal exact = BigDecimal.ZERO;
      double largest = 0;
      for (double each : numbers) {
        exact = exact.add(new BigDecimal(each));
        largest = Math.max(largest, Math.abs(each));
      }
      double sum = sumOf(numbers)[0];
      BigDecimal bound =
          new BigDecimal(largest)
              .multiply(new BigDecimal(terms * 0x1p-54))
              .add(new BigDecimal(2 * Math.ulp(sum)));
      assertThat(new BigDecimal(sum).subtract(exact).abs())
          .as("%s, seed %d", Arrays.toString(numbers), seed)
          .isLessThanOrEqualTo(bound);
    }
  }

  @Test
  void theSumOfOneTermIsExact() {
    for (int round = 0; round < 20_000; round++) {
      double number = Math.scalb(1 + random.nextDouble(), random.nextInt(2000) - 1000);
      assertThat(sumOf(number)).containsExactly(number);
    }
    assertThat(sumOf(0.6)).containsExactly(0.6);
  }

  @Test
  void whatCancelsLeavesTheRest() {
    assertThat(sumOf(1e16, 1.0, -1e16)).containsExactly(1.0);
    assertThat(sumOf(-0x1p60, 0x1p60, -3.0)).containsExactly(-3.0);
    assertThat(sumOf(-1e-3, -1e-3)).containsExactly(-2e-3);
    assertThat(sumOf(Double.MAX_VALUE, Double.MAX_VALUE, -Double.MAX_VALUE))
        .containsExactly(Double.MAX_VALUE);
  }

  @Test
  void theEndsOfTheRangeAreSummed() {
    assertThat(sumOf(Double.MAX_VALUE, Double.MAX_VALUE)).containsExactly(Double.POSITIVE_INFINITY);
    assertThat(sumOf(-Double.MAX_VALUE, 1.0)).containsExactly(-Double.MAX_VALUE);
    assertThat(sumOf(Double.MIN_NORMAL, Double.MIN_NORMAL)).containsExactly(2 * Double.MIN_NORMAL);
    assertThat(sumOf(0x1p-1053, 0x1p-1053)).containsExactly(0x1p-1052);
    assertThat(sumOf(Double.MIN_VALUE)).containsExactly(0.0);
    assertThat(Double.doubleToRawLongBits(sumOf(-0.0, -0.0)[0])).isZero();
  }

  @Test
  void infinitiesAndNanComeOutOnEveryRank() {
    double infinity = Double.POSITIVE_INFINITY;
    double[][] ofRank = {
      {1, infinity, 1, -infinity, 5},
      {2, 1, Double.longBitsToDouble(0x7ff8000000000123L), infinity, -infinity},
      {3, infinity, 0, 0, 0},
    };
    for (double[] result :
        GroupRuns.run(
            3,
            Paths.HEAP,
            group -> {
              double[] values = ofRank[group.rank()].clone();
              ReproducibleSum.allReduceInPlace(group, Tensor.of(values));
              return values;
            })) {
      assertThat(result).containsExactly(6, infinity, Double.NaN, Double.NaN, -infinity);
      assertThat(Double.doubleToRawLongBits(result[2]))
          .isEqualTo(Double.doubleToRawLongBits(Double.NaN));
    }
  }

  @Test
  void float32IsSummedInFloat64AndRoundedOnce() {
    ReproducibleSum sum = ReproducibleSum.ofLength(2);
    for (int i = 0; i < 1000; i++) {
      sum.add(Tensor.of(0.1f, 1e30f));
    }
    float[] narrow = new float[2];
    sum.get(Tensor.of(narrow));
    assertThat(narrow).containsExactly((float) (1000 * (double) 0.1f), (float) (1000.0 * 1e30f));
    double[] wide = new double[2];
    sum.get(Tensor.of(wide));
    assertThat(wide[0]).isEqualTo(1000 * (double) 0.1f);
  }

  @Test
  void sumsOfNoElementsAndOfNoTermsArePossible() {
    for (double[] each :
        GroupRuns.run(
            2,
            Paths.HEAP,
            group -> {
              ReproducibleSum.ofLength(0).allReduce(group, Tensor.of(new double[0]));
              double[] result = {5};
              ReproducibleSum.ofLength(1).allReduce(group, Tensor.of(result));
              return result;
            })) {
      assertThat(each).containsExactly(0);
    }
  }

  @Test
  void aClearedSumBeginsAgain() {
    ReproducibleSum sum = ReproducibleSum.ofLength(1);
    sum.add(Tensor.of(1e300)).add(Tensor.of(Double.NaN)).clear();
    double[] result = new double[1];
    sum.add(Tensor.of(1e-300)).get(Tensor.of(result));
    assertThat(result).containsExactly(1e-300);
    assertThat(sum.terms()).isEqualTo(1);
  }

  @Test
  void moreTermsMayFollowAnAllReduce() {
    for (double[] results :
        GroupRuns.run(
            2,
            Paths.HEAP,
            group -> {
              double[] result = new double[1];
              ReproducibleSum sum = ReproducibleSum.ofLength(1).add(Tensor.of(1.0));
              sum.allReduce(group, Tensor.of(result));
              double first = result[0];
              sum.add(Tensor.of(0.25)).allReduce(group, Tensor.of(result));
              return new double[] {first, result[0]};
            })) {
      assertThat(results).containsExactly(2, 2.5);
    }
  }

  @Test
  void anAllReduceLeavesTheTermsOfARankAsTheyAre() {
    GroupRuns.run(
        2,
        Paths.HEAP,
        group -> {
          ReproducibleSum sum = ReproducibleSum.ofLength(1);
          sum.add(Tensor.of(group.rank() == 0 ? 1.0 : 0x1p200));
          double[] result = new double[1];
          sum.allReduce(group, Tensor.of(result));
          assertThat(result).containsExactly(0x1p200);
          sum.get(Tensor.of(result));
          assertThat(result).containsExactly(group.rank() == 0 ? 1.0 : 0x1p200);
          return null;
        });
  }

  @Test
  void lengthsAndTypesThatDifferAreNamedOnAllRanks() {
    GroupRuns.run(
        3,
        Paths.HEAP,
        group -> {
          int length = group.rank() == 2 ? 11 : 10;
          assertThatIllegalArgumentException()
              .isThrownBy(
                  () -> ReproducibleSum.allReduceInPlace(group, Tensor.of(new double[length])))
              .withMessageContaining("reproducible all-reduce of group")
              .withMessageContaining("rank 0 gives float64 x 10, and rank 2 gives float64 x 11");
          assertThatIllegalArgumentException()
              .isThrownBy(
                  () ->
                      ReproducibleSum.ofLength(10).allReduce(group, Tensor.of(new double[length])))
              .withMessageContaining("does not fit a sum of 10 elements");
          stillUsable(group);
          return null;
        });
  }

  private static void stillUsable(ProcessGroup group) {
    double[] one = {1};
    group.allReduce(Tensor.of(one)).await();
    assertThat(one).containsExactly(group.size());
  }

  @Test
  void wrongArgumentsAreRefused() {
    ReproducibleSum sum = ReproducibleSum.ofLength(3);
    assertThatThrownBy(() -> sum.add(Tensor.of(1.0)))
        .hasMessage("The term float64[1] does not fit a sum of 3 elements");
    assertThatThrownBy(() -> sum.add(Tensor.of(1, 2, 3)))
        .hasMessageContaining("takes float32 and float64, not int32[3]");
    assertThatThrownBy(() -> sum.add(Tensor.allocate(DType.FLOAT16, 3)))
        .hasMessageContaining("not float16[3]");
    assertThatThrownBy(() -> sum.add(ReproducibleSum.ofLength(4)))
        .hasMessage("A sum of 4 elements cannot be added to a sum of 3");
    assertThatThrownBy(() -> ReproducibleSum.ofLength(-1)).hasMessageContaining("not -1");
    assertThat(sum.terms()).isZero();
  }

  @Test
  void moreTermsThanFitAreRefused() {
    ReproducibleSum one = ReproducibleSum.ofLength(1).add(Tensor.of(0x1.fffffep24));
    ReproducibleSum sum = ReproducibleSum.ofLength(1);
    for (int doublings = 0; doublings < 27; doublings++) {
      sum.clear();
      sum.add(one).add(one);
      one.clear();
      one.add(sum);
    }
    assertThat(one.terms()).isEqualTo(1 << 27);
    double[] result = new double[1];
    one.get(Tensor.of(result));
    assertThat(result).containsExactly(0x1.fffffep51);
    assertThatThrownBy(() -> one.add(Tensor.of(1.0)))
        .isInstanceOf(IllegalStateException.class)
        .hasMessageContaining("134,217,728 terms cannot take 1 more");
    GroupRuns.run(
        33,
        Paths.HEAP,
        group -> {
          assertThatIllegalArgumentException()
              .isThrownBy(
                  () ->
                      (group.rank() == 3 ? one : ReproducibleSum.ofLength(1))
                          .allReduce(group, Tensor.of(new double[1])))
              .withMessageContaining(
                  "more than 67,108,864 terms, but 33 ranks may have up to 67,108,864");
          return null;
        });
  }
}
