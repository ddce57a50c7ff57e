package org.sparkcollectives.faults;

import java.io.IOException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.stream.IntStream;
import org.sparkcollectives.DType;
import org.sparkcollectives.GroupOptions;
import org.sparkcollectives.ProcessGroup;
import org.sparkcollectives.ProcessGroups;
import org.sparkcollectives.ReduceOp;
import org.sparkcollectives.Tensor;
import org.sparkcollectives.store.Store;
import org.sparkcollectives.store.TcpStore;

/**
 * A rank that runs collectives of all kinds, types and sizes in several groups, which it makes and
 * closes repeatedly. All ranks draw the same random numbers.
 */
final class SoakRank {

  static final int SIZE = 3;

  /** The number of collectives after which the groups are closed, and others made. */
  private static final int GENERATION = 1000;

  /** The number of collectives in a second world that lives beside the first for a moment. */
  private static final int ASIDE = 100;

  /** The logarithm of the largest tensor's count; most are far smaller. */
  private static final int LARGEST = 15;

  private static final List<DType> DTYPES =
      List.of(
          DType.UINT8,
          DType.INT32,
          DType.INT64,
          DType.FLOAT16,
          DType.BFLOAT16,
          DType.FLOAT32,
          DType.FLOAT64);

  private final Random random;

  private SoakRank(long seed) {
    this.random = new Random(seed);
  }

  /**
   * Runs the rank. Arguments: the rank, the port of the store, the number of collectives, the seed,
   * and how often the footprint is printed, each time when there is no group but the world.
   */
  public static void main(String[] arguments) throws IOException {
    int rank = Integer.parseInt(arguments[0]);
    int count = Integer.parseInt(arguments[2]);
    int measures = Integer.parseInt(arguments[4]);
    SoakRank soak = new SoakRank(Long.parseLong(arguments[3]));
    try (Store store =
            TcpStore.connect("127.0.0.1", Integer.parseInt(arguments[1]), Duration.ofMinutes(1));
        ProcessGroup world =
            ProcessGroups.create(store, rank, SIZE, GroupOptions.defaults().withName("world"))) {
      for (int measure = 0; measure < measures; measure++) {
        soak.part(world, count / measures);
        GroupOptions other = GroupOptions.defaults().withName("world-" + measure);
        try (ProcessGroup second = ProcessGroups.create(store, rank, SIZE, other)) {
          soak.generation(second, ASIDE);
        }
        world.barrier().await();
        System.out.println("footprint " + Footprint.now().encode());
      }
      // Collections take their time, and no rank must miss the others meanwhile.
      world.barrier().await();
    }
    System.out.println("done");
  }

  private void part(ProcessGroup world, int count) {
    for (int done = 0; done < count; done += GENERATION) {
      generation(world, Math.min(GENERATION, count - done));
    }
  }

  private void generation(ProcessGroup world, int count) {
    List<ProcessGroup> made = new ArrayList<>();
    int apart = random.nextInt(SIZE);
    int[] pair = IntStream.range(0, SIZE).filter(rank -> rank != apart).toArray();
    made.add(world.newGroup(pair));
    made.add(world.split(world.rank() == apart ? 1 : 0, -world.rank()));
    made.add(world.newGroup());
    List<ProcessGroup> groups = new ArrayList<>(made);
    groups.add(world);
    for (int i = 0; i < count; i++) {
      ProcessGroup group = groups.get(random.nextInt(groups.size()));
      DType dtype = DTYPES.get(random.nextInt(DTYPES.size()));
      int size = 1 + random.nextInt(1 << random.nextInt(LARGEST));
      int operation = random.nextInt(10);
      int root = random.nextInt(SIZE);
      // Memory of the world would stay until its end.
      boolean inGroupMemory = random.nextInt(50) == 0 && group != world;
      if (group != null) {
        collective(group, operation, dtype, size, root % group.size(), inGroupMemory);
      }
    }
    // A rank that left a group early would fail those that are still in it.
    world.barrier().await();
    for (ProcessGroup each : made) {
      if (each != null) {
        each.close();
      }
    }
  }

  private static void collective(
      ProcessGroup group, int operation, DType dtype, int count, int root, boolean inGroupMemory) {
    int ranks = group.size();
    Tensor one = inGroupMemory ? group.allocate(dtype, count) : Tensor.allocate(dtype, count);
    Tensor all = Tensor.allocate(dtype, (long) count * ranks);
    switch (operation) {
      case 0 -> group.broadcast(one, root).await();
      case 1 -> group.allGather(all, one).await();
      case 2 -> group.reduceScatter(one, all, ReduceOp.SUM).await();
      case 3 -> group.allToAll(all, Tensor.allocate(dtype, (long) count * ranks)).await();
      case 4 -> group.reduce(one, ReduceOp.MAX, root).await();
      case 5 -> group.gather(partsAt(group, root, all, count), one, root).await();
      case 6 -> group.scatter(one, partsAt(group, root, all, count), root).await();
      case 7 -> group.barrier().await();
      default -> checkedAllReduce(group, count);
    }
  }

  private static List<Tensor> partsAt(ProcessGroup group, int root, Tensor all, int count) {
    return group.rank() == root
        ? IntStream.range(0, group.size())
            .mapToObj(part -> all.slice((long) part * count, count))
            .toList()
        : List.of();
  }

  private static void checkedAllReduce(ProcessGroup group, int count) {
    long[] sum = new long[count];
    sum[0] = 1;
    sum[count - 1] = 1;
    group.allReduce(Tensor.of(sum), ReduceOp.SUM).await();
    if (sum[0] != group.size() || sum[count - 1] != group.size()) {
      throw new IllegalStateException(
          "the sum is " + sum[0] + " and " + sum[count - 1] + ", not " + group.size());
    }
  }
}
