package org.sparkcollectives.lightgbm;

import com.sun.jna.Memory;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.sparkcollectives.DType;
import org.sparkcollectives.ProcessGroup;
import org.sparkcollectives.Tensor;

/**
 * Finds the bins of the features before LightGBM's network begins, from a sample of all ranks'
 * rows: every rank makes the same bins of the same sample.
 *
 * <p>LightGBM would find bins over its network, where a failed collective crashes the process: it
 * reads whatever the callback left there.
 *
 * <p>The sample is gathered into native memory, from which LightGBM reads it: rows x columns x 8
 * bytes on each rank, and 1 MiB a rank more.
 */
final class SampledBins {

  /** LightGBM's own default of {@code bin_construct_sample_cnt}. */
  static final int SAMPLE = 200_000;

  /** How many bytes of its sample a rank sends in one collective; a row at least. */
  private static final int ROUND_BYTES = 1 << 20;

  private final int[] shares;
  private final boolean isPart;
  private final long seed;

  private SampledBins(int[] shares, boolean isPart, long seed) {
    this.shares = shares;
    this.isPart = isPart;
    this.seed = seed;
  }

  /**
   * Plans the sample: rows of each rank in proportion to its own.
   *
   * @param parameters by LightGBM's own names
   * @param rows how many each rank has
   */
  static SampledBins of(Map<String, String> parameters, long[] rows) {
    long wanted = Parameters.number(parameters, "bin_construct_sample_cnt", SAMPLE);
    if (wanted < 1 || wanted > Integer.MAX_VALUE) {
      throw new IllegalArgumentException(
          "The parameter bin_construct_sample_cnt is " + wanted + ", and not 1 to 2147483647");
    }
    long total = Arrays.stream(rows).sum();
    boolean isPart = total > wanted;
    int[] shares =
        Arrays.stream(rows)
            .mapToInt(own -> (int) (isPart ? Math.max(1, own * wanted / total) : own))
            .toArray();
    return new SampledBins(shares, isPart, Parameters.number(parameters, "data_random_seed", 1));
  }

  /** Returns whether the sample is only a part of the rows. */
  boolean isPart() {
    return isPart;
  }

  /** Returns how many rows each rank gives. */
  int[] shares() {
    return shares.clone();
  }

  /** Returns a dataset with the bins of all ranks' rows. A collective. */
  NativeDataset gather(
      ProcessGroup group, LightGbmLibrary library, TrainingRows own, String parameters) {
    int rows = Math.toIntExact(Arrays.stream(shares).asLongStream().sum());
    try (Memory sample = sample(group, own)) {
      return NativeDataset.ofFeatures(library, sample, rows, own.columns(), parameters, null);
    }
  }

  /** Returns how many bytes the sample has. */
  static long bytes(int[] shares, int columns) {
    return Arrays.stream(shares).asLongStream().sum() * columns * Double.BYTES;
  }

  /** Returns the sampled rows of rank 0, then those of rank 1, and so on. A collective. */
  Memory sample(ProcessGroup group, TrainingRows own) {
    Memory sample = new Memory(bytes(shares, own.columns()));
    try {
      fill(sample, group, own);
      return sample;
    } catch (RuntimeException | Error e) {
      sample.close();
      throw e;
    }
  }

  private void fill(Memory sample, ProcessGroup group, TrainingRows own) {
    int columns = own.columns();
    long rowBytes = (long) Double.BYTES * columns;
    int roundRows = (int) Math.max(1, ROUND_BYTES / rowBytes);
    Choice choice = new Choice(own.size(), shares[group.rank()], new Random(seed + group.rank()));
    int most = Arrays.stream(shares).max().orElse(0);
    for (int taken = 0; taken < most; taken += roundRows) {
      double[] part = new double[columns * rowsOfRound(group.rank(), taken, roundRows)];
      for (int at = 0; at < part.length; at += columns) {
        System.arraycopy(own.features(), choice.next() * columns, part, at, columns);
      }
      List<Tensor> parts = new ArrayList<>();
      long first = 0;
      for (int rank = 0; rank < shares.length; rank++) {
        int count = columns * rowsOfRound(rank, taken, roundRows);
        parts.add(doubles(sample, (first + taken) * rowBytes, count));
        first += shares[rank];
      }
      group.allGather(parts, Tensor.of(part)).await();
    }
  }

  private int rowsOfRound(int rank, int taken, int roundRows) {
    return Math.max(0, Math.min(roundRows, shares[rank] - taken));
  }

  private static Tensor doubles(Memory memory, long offset, int count) {
    if (count == 0) {
      return Tensor.of(new double[0]);
    }
    ByteBuffer bytes = memory.getByteBuffer(offset, (long) Double.BYTES * count);
    return Tensor.wrap(DType.FLOAT64, bytes.order(ByteOrder.nativeOrder()));
  }

  /** Chooses some of a number of rows, in their order, each as likely as every other. */
  private static final class Choice {

    private final int rows;
    private final Random random;
    private int left;
    private int seen;

    Choice(int rows, int chosen, Random random) {
      this.rows = rows;
      this.left = chosen;
      this.random = random;
    }

    /** Returns the number of the next row that is chosen. */
    int next() {
      while (random.nextDouble() * (rows - seen) >= left) {
        seen++;
      }
      left--;
      return seen++;
    }
  }
}
