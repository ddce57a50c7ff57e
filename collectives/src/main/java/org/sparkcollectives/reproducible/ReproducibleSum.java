package org.sparkcollectives.reproducible;

import java.util.List;
import java.util.Locale;
import java.util.Objects;
import org.sparkcollectives.DType;
import org.sparkcollectives.ProcessGroup;
import org.sparkcollectives.Tensor;
import org.sparkcollectives.spi.CallCheck;
import org.sparkcollectives.spi.tensor.HostTensor;

/**
 * Adds up tensors of float32 or float64, with the same bits in every order: however terms are
 * spread over ranks, in whatever order they come, over every path and algorithm.
 *
 * <pre>{@code
 * ReproducibleSum sum = ReproducibleSum.ofLength(features);
 * for (double[] row : rows) {
 *   sum.add(Tensor.of(row));
 * }
 * double[] total = new double[features];
 * sum.allReduce(world, Tensor.of(total));
 * }</pre>
 *
 * <p>Only the terms count: there may be up to 8,192 ranks, and ranks without terms. The error of an
 * element is at most the number of terms times 2<sup>-54</sup> of its largest term, and the
 * rounding of the result; the sum of one term is exact. Magnitudes below 2<sup>-1054</sup> count as
 * zero. NaN and infinities come out as in any sum, as the one NaN of {@link Double#NaN}; the sum of
 * no terms and of negative zeros is 0.
 *
 * <p>A sum has 33 bytes for each element, and sends 17. Not thread-safe: give each thread its own
 * and {@linkplain #add(ReproducibleSum) add} them up.
 *
 * <p>Numbers are cut at fixed powers of two, as in "Algorithms for Efficient Reproducible Floating
 * Point Summation" (Ahrens, Demmel and Nguyen, 2020).
 */
public final class ReproducibleSum {

  private static final long LONGEST = 1L << 30;

  private final long length;
  private final SummedBlock[] blocks;
  private final TileReader reader = new TileReader();
  private long terms;

  private ReproducibleSum(long length) {
    this.length = length;
    blocks = new SummedBlock[(int) ((length + BinnedBlock.LENGTH - 1) / BinnedBlock.LENGTH)];
    for (int i = 0; i < blocks.length; i++) {
      long left = length - (long) i * BinnedBlock.LENGTH;
      blocks[i] = new SummedBlock((int) Math.min(BinnedBlock.LENGTH, left));
    }
  }

  /**
   * Returns an empty sum.
   *
   * @param length the number of elements of each term, up to 2<sup>30</sup>
   */
  public static ReproducibleSum ofLength(long length) {
    if (length < 0 || length > LONGEST) {
      throw new IllegalArgumentException("A sum has 0 to 2^30 elements, not " + length);
    }
    return new ReproducibleSum(length);
  }

  /**
   * Replaces a tensor by the sum of the ranks' tensors, as {@link ProcessGroup#allReduce(Tensor)}
   * does, with bits that do not depend on which rank has which. A collective, see {@link
   * #allReduce(ProcessGroup, Tensor)}.
   *
   * @param tensor float32 or float64, in host memory
   */
  public static void allReduceInPlace(ProcessGroup group, Tensor tensor) {
    ReproducibleSum[] sum = new ReproducibleSum[1];
    new CallCheck(group, "reproducible all-reduce")
        .compare(
            () -> {
              sum[0] = ofLength(checked(tensor).count());
              sum[0].add(tensor);
              return List.of(describe(tensor));
            });
    sum[0].exchange(group, HostTensor.of(tensor));
  }

  /** Returns how many terms were added on this rank. */
  public long terms() {
    return terms;
  }

  /**
   * Adds a tensor, which may be written again afterwards.
   *
   * @param term float32 or float64, in host memory, of this sum's length and any shape
   * @return this sum
   * @throws IllegalArgumentException if it is of another type or length
   * @throws IllegalStateException if there are 2<sup>27</sup> terms already
   */
  public ReproducibleSum add(Tensor term) {
    HostTensor from = fitting(term, "term");
    count(1);
    for (int i = 0; i < blocks.length; i++) {
      blocks[i].add(reader.read(from, (long) i * BinnedBlock.LENGTH, blocks[i].length()));
    }
    return this;
  }

  /**
   * Adds all terms of another sum, which keeps them.
   *
   * @return this sum
   * @throws IllegalArgumentException if it is of another length
   * @throws IllegalStateException if there are more than 2<sup>27</sup> terms together
   */
  public ReproducibleSum add(ReproducibleSum other) {
    if (other.length != length) {
      throw new IllegalArgumentException(
          "A sum of " + other.length + " elements cannot be added to a sum of " + length);
    }
    count(other.terms);
    for (int i = 0; i < blocks.length; i++) {
      blocks[i].add(other.blocks[i]);
    }
    return this;
  }

  /** Removes all terms. */
  public void clear() {
    terms = 0;
    for (SummedBlock each : blocks) {
      each.clear();
    }
  }

  /**
   * Writes the sum of this rank's terms.
   *
   * @param result float32 or float64, in host memory, of this sum's length
   * @throws IllegalArgumentException if it is of another type or length
   */
  public void get(Tensor result) {
    HostTensor to = fitting(result, "result");
    SumMessage message = new SumMessage(blocks, SumMessage.tops(blocks));
    for (int first = 0; first < blocks.length; first += SumMessage.BLOCKS) {
      message.encode(first, Math.min(first + SumMessage.BLOCKS, blocks.length), true);
      message.write(to);
    }
  }

  /**
   * Writes the sum of all ranks' terms, on each rank. A collective: blocks until all ranks have
   * called it and the sums were exchanged, for the group's timeout in each step. The terms stay,
   * and more may be added.
   *
   * @param result float32 or float64, in host memory, of this sum's length; of the same type on
   *     every rank
   * @throws IllegalArgumentException on all ranks, if lengths or types differ, one of them is
   *     refused, or so many ranks times the terms of the one with most, taken up to a power of two,
   *     are more than 2<sup>32</sup>
   */
  public void allReduce(ProcessGroup group, Tensor result) {
    new CallCheck(group, "reproducible sum")
        .compare(
            () -> {
              fitting(result, "result");
              return List.of(describe(result));
            });
    exchange(group, HostTensor.of(result));
  }

  private void exchange(ProcessGroup group, HostTensor result) {
    new SumExchange(group, blocks).run(terms, result);
  }

  private void count(long more) {
    if (terms + more > BinnedBlock.MOST_TERMS) {
      throw new IllegalStateException(
          String.format(
              Locale.ROOT,
              "A sum of %,d terms cannot take %,d more: a rank may add %,d; reduce the sum and begin"
                  + " another",
              terms,
              more,
              BinnedBlock.MOST_TERMS));
    }
    terms += more;
  }

  private HostTensor fitting(Tensor tensor, String use) {
    HostTensor host = checked(tensor);
    if (host.count() != length) {
      throw new IllegalArgumentException(
          "The " + use + " " + tensor + " does not fit a sum of " + length + " elements");
    }
    return host;
  }

  private static HostTensor checked(Tensor tensor) {
    Objects.requireNonNull(tensor, "tensor");
    if (tensor.dtype() != DType.FLOAT32 && tensor.dtype() != DType.FLOAT64) {
      throw new IllegalArgumentException(
          "A reproducible sum takes float32 and float64, not "
              + tensor
              + "; sums of integers are the same in every order anyway");
    }
    return HostTensor.of(tensor);
  }

  private static String describe(Tensor tensor) {
    return tensor.dtype().label() + " x " + tensor.count();
  }
}
