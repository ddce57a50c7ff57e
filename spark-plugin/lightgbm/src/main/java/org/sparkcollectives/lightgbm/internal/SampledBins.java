package org.sparkcollectives.lightgbm.internal;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import org.sparkcollectives.ProcessGroup;
import org.sparkcollectives.Tensor;
import org.sparkcollectives.lightgbm.TrainingRows;

/**
 * Finds the bins of the features before LightGBM's network begins, from a sample of all ranks'
 * rows: every rank makes the same bins of the same sample.
 *
 * <p>LightGBM would find bins over its network, where a failed collective crashes the process: it
 * reads whatever the callback left there.
 */
final class SampledBins {

  /** LightGBM's own default of {@code bin_construct_sample_cnt}. */
  static final int SAMPLE = 200_000;

  private SampledBins() {}

  /**
   * Returns a dataset with the bins of all ranks' rows. A collective.
   *
   * @param rows how many each rank has
   * @param seed of the sample
   */
  static NativeDataset of(
      ProcessGroup group,
      LightGbmLibrary library,
      TrainingRows own,
      long[] rows,
      long seed,
      String parameters) {
    int[] sampled = shares(rows);
    double[] sample = sample(own, sampled[group.rank()], new Random(seed + group.rank()));
    List<double[]> samples = new ArrayList<>();
    List<Tensor> gathered = new ArrayList<>();
    for (int count : sampled) {
      double[] part = new double[count * own.columns()];
      samples.add(part);
      gathered.add(Tensor.of(part));
    }
    group.allGather(gathered, Tensor.of(sample)).await();
    double[] all = samples.stream().flatMapToDouble(Arrays::stream).toArray();
    return NativeDataset.ofFeatures(
        library, all, all.length / own.columns(), own.columns(), parameters, null);
  }

  /** Returns whether the sample is only a part of the rows. */
  static boolean isPart(long[] rows) {
    return Arrays.stream(rows).sum() > SAMPLE;
  }

  /** Returns how many rows each rank gives, in proportion to its own. */
  static int[] shares(long[] rows) {
    long total = Arrays.stream(rows).sum();
    return Arrays.stream(rows)
        .mapToInt(
            own -> (int) (isPart(rows) ? Math.max(1, Math.floorDiv(own * SAMPLE, total)) : own))
        .toArray();
  }

  /** Returns {@code count} different rows, in their order, each as likely as every other. */
  private static double[] sample(TrainingRows rows, int count, Random random) {
    int columns = rows.columns();
    double[] sample = new double[count * columns];
    int taken = 0;
    for (int i = 0; taken < count; i++) {
      if (random.nextDouble() * (rows.size() - i) < count - taken) {
        System.arraycopy(rows.features(), i * columns, sample, taken * columns, columns);
        taken++;
      }
    }
    return sample;
  }
}
