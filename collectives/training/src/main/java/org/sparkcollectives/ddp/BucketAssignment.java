package org.sparkcollectives.ddp;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collection;
import java.util.Comparator;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.sparkcollectives.DType;

/**
 * Puts tensors into buckets by size: c10d's {@code _compute_bucket_assignment_by_size}.
 *
 * <p>Tensors are taken one after the other. Each type has one open bucket. A bucket is closed by
 * the tensor with which it reaches its limit, so it may be larger than the limit by nearly that
 * tensor. The next bucket of that type has the next limit, and the last limit repeats. A tensor
 * with sparse gradients is alone in its bucket, which has the limit 0.
 *
 * @param buckets the tensors of each bucket, by their positions
 * @param limits the limit in bytes of each bucket
 */
public record BucketAssignment(List<int[]> buckets, long[] limits) {

  /** Creates an assignment. The arrays are copied. */
  public BucketAssignment {
    buckets = buckets.stream().map(int[]::clone).toList();
    limits = limits.clone();
  }

  /** Returns the limit in bytes of each bucket. A copy. */
  @Override
  public long[] limits() {
    return limits.clone();
  }

  /**
   * Assigns tensors in the order of their positions. The buckets are sorted by their smallest
   * position.
   *
   * @param bytes the size of each tensor
   * @param types the type of each tensor
   * @param sparse whether the gradients of each tensor are sparse
   * @param limits at least one; the first bucket of each type has the first, and so on
   * @throws IllegalArgumentException if the arrays differ in length, there is no limit, or a size
   *     or limit is negative
   */
  public static BucketAssignment of(long[] bytes, DType[] types, boolean[] sparse, long[] limits) {
    int[] order = IntStream.range(0, bytes.length).toArray();
    Packing packing = new Packing(bytes, types, sparse, limits);
    List<Open> all = packing.pack(order);
    all.sort(Comparator.comparingInt(Open::smallest));
    return assignment(all);
  }

  /**
   * Assigns tensors in a given order. The buckets are in the order in which they were closed; those
   * that never reached their limit follow, in the order of their first tensors.
   *
   * @param readyOrder the positions of the tensors to assign, each once
   * @throws IllegalArgumentException as without an order, or if a position is unknown or given
   *     twice
   */
  public static BucketAssignment of(
      long[] bytes, DType[] types, boolean[] sparse, long[] limits, int[] readyOrder) {
    Packing packing = new Packing(bytes, types, sparse, limits);
    requireOrder(readyOrder, bytes.length);
    return assignment(packing.pack(readyOrder));
  }

  /**
   * Refuses an order with a position that is unknown or given twice.
   *
   * @throws IllegalArgumentException naming the position
   */
  static void requireOrder(int[] order, int count) {
    boolean[] seen = new boolean[count];
    for (int position : order) {
      if (position < 0 || position >= count || seen[position]) {
        throw new IllegalArgumentException(
            "An order of "
                + count
                + " tensors cannot have the position "
                + position
                + (position < 0 || position >= count ? "" : " twice")
                + ": "
                + Arrays.toString(order));
      }
      seen[position] = true;
    }
  }

  private static BucketAssignment assignment(Collection<Open> all) {
    return new BucketAssignment(
        all.stream().map(Open::positions).toList(),
        all.stream().mapToLong(each -> each.limit).toArray());
  }

  /** A bucket that tensors are put into. */
  private static final class Open {
    private final long limit;
    private final int arrival;
    private final List<Integer> tensors = new ArrayList<>();
    private long bytes;

    Open(long limit, int arrival) {
      this.limit = limit;
      this.arrival = arrival;
    }

    void add(int tensor, long size) {
      tensors.add(tensor);
      bytes += size;
    }

    boolean isFull() {
      return bytes >= limit;
    }

    int smallest() {
      return tensors.stream().mapToInt(each -> each).min().orElseThrow();
    }

    int[] positions() {
      return tensors.stream().mapToInt(each -> each).toArray();
    }
  }

  private record Packing(long[] bytes, DType[] types, boolean[] sparse, long[] limits) {

    Packing {
      if (types.length != bytes.length || sparse.length != bytes.length) {
        throw new IllegalArgumentException(
            "Each tensor needs a size, a type and whether it is sparse: there are "
                + bytes.length
                + ", "
                + types.length
                + " and "
                + sparse.length);
      }
      if (limits.length == 0 || anyNegative(limits) || anyNegative(bytes)) {
        throw new IllegalArgumentException(
            "Buckets need at least one limit, and no limit or size may be negative: limits "
                + Arrays.toString(limits)
                + ", sizes "
                + Arrays.toString(bytes));
      }
    }

    private static boolean anyNegative(long[] numbers) {
      return Arrays.stream(numbers).anyMatch(number -> number < 0);
    }

    List<Open> pack(int[] order) {
      List<Open> closed = new ArrayList<>();
      Map<DType, Open> open = new EnumMap<>(DType.class);
      Map<DType, Integer> closedOfType = new EnumMap<>(DType.class);
      for (int i = 0; i < order.length; i++) {
        int tensor = order[i];
        if (sparse[tensor]) {
          Open alone = new Open(0, i);
          alone.add(tensor, bytes[tensor]);
          closed.add(alone);
          continue;
        }
        DType type = types[tensor];
        int number = closedOfType.getOrDefault(type, 0);
        int arrival = i;
        Open bucket =
            open.computeIfAbsent(
                type, key -> new Open(limits[Math.min(number, limits.length - 1)], arrival));
        bucket.add(tensor, bytes[tensor]);
        if (bucket.isFull()) {
          closed.add(open.remove(type));
          closedOfType.put(type, number + 1);
        }
      }
      Stream<Open> rest = open.values().stream().sorted(Comparator.comparingInt(b -> b.arrival));
      closed.addAll(rest.toList());
      return closed;
    }
  }
}
