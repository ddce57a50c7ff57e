package org.sparkcollectives.faults;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.stream.IntStream;
import org.sparkcollectives.CollectiveException;
import org.sparkcollectives.DType;
import org.sparkcollectives.GroupOptions;
import org.sparkcollectives.ProcessGroup;
import org.sparkcollectives.ReduceOp;
import org.sparkcollectives.Rendezvous;
import org.sparkcollectives.Tensor;
import org.sparkcollectives.spi.CollectivesConfiguration;

/**
 * A rank of {@link StoppedRankTest}: in each round it repeats an operation until that fails, takes
 * its tensors back, and checks later whether anything has written to them.
 *
 * <p>Arguments: rank, folder, bytes of the larger tensor, timeout in milliseconds.
 */
final class StoppedRank {

  static final int SIZE = 3;
  private static final long LOOK_MILLIS = 5;

  /** The operations on two tensors of which the first has a part for each rank. */
  enum Operation {
    ALL_REDUCE {
      @Override
      void run(ProcessGroup group, Tensor large, Tensor part) {
        group.allReduce(large, ReduceOp.SUM).await();
      }
    },
    REDUCE {
      @Override
      void run(ProcessGroup group, Tensor large, Tensor part) {
        group.reduce(large, ReduceOp.SUM, 0).await();
      }
    },
    REDUCE_SCATTER {
      @Override
      void run(ProcessGroup group, Tensor large, Tensor part) {
        group.reduceScatter(part, large, ReduceOp.SUM).await();
      }
    },
    ALL_GATHER {
      @Override
      void run(ProcessGroup group, Tensor large, Tensor part) {
        group.allGather(large, part).await();
      }
    },
    ALL_TO_ALL {
      @Override
      void run(ProcessGroup group, Tensor large, Tensor part) {
        List<Tensor> parts = parts(large);
        group
            .allToAll(
                parts.stream().map(each -> half(each, 0)).toList(),
                parts.stream().map(each -> half(each, 1)).toList())
            .await();
      }
    },
    BROADCAST {
      @Override
      void run(ProcessGroup group, Tensor large, Tensor part) {
        group.broadcast(large, 1).await();
      }
    },
    GATHER {
      @Override
      void run(ProcessGroup group, Tensor large, Tensor part) {
        group.gather(group.rank() == 0 ? parts(large) : List.of(), part, 0).await();
      }
    },
    SCATTER {
      @Override
      void run(ProcessGroup group, Tensor large, Tensor part) {
        group.scatter(part, group.rank() == 2 ? parts(large) : List.of(), 2).await();
      }
    };

    abstract void run(ProcessGroup group, Tensor large, Tensor part);

    private static List<Tensor> parts(Tensor large) {
      long count = large.count() / SIZE;
      return IntStream.range(0, SIZE).mapToObj(i -> large.slice(i * count, count)).toList();
    }

    private static Tensor half(Tensor tensor, int which) {
      long count = tensor.count() / 2;
      return tensor.slice(which * count, count);
    }

    static Operation of(int round) {
      return values()[round % values().length];
    }
  }

  private StoppedRank() {}

  /** Returns the file whose existence lets the ranks of a round check their tensors. */
  static Path mayCheck(Path folder, int round) {
    return folder.resolve("look-" + round);
  }

  public static void main(String[] args) throws Exception {
    int rank = Integer.parseInt(args[0]);
    Path folder = Path.of(args[1]);
    long count = Long.parseLong(args[2]) / Integer.BYTES / (2 * SIZE) * (2 * SIZE);
    Duration timeout = Duration.ofMillis(Long.parseLong(args[3]));
    System.setProperty(CollectivesConfiguration.SHM_FOLDER.key(), "/dev/shm");
    for (int round = 0; ; round++) {
      run(rank, folder, count, timeout, round);
    }
  }

  private static void run(int rank, Path folder, long count, Duration timeout, int round)
      throws IOException, InterruptedException {
    GroupOptions options = GroupOptions.defaults().withTransports("shm", "tcp");
    String url = "file://" + folder.resolve("store-" + round);
    try (ProcessGroup world = Rendezvous.join(url, rank, SIZE, options)) {
      Tensor large = world.allocate(DType.INT32, count);
      Tensor part = world.allocate(DType.INT32, count / SIZE);
      if (large.array() != null || part.array() != null) {
        throw new IllegalStateException("There is no room in /dev/shm for this test");
      }
      // This makes connections and shared files before the clock runs.
      Operation.of(round).run(world, large, part);
      repeat(world.withTimeout(timeout), Operation.of(round), large, part, rank, round);
      int[] largeContents = refill(large, 1_000_000 * round + 1);
      int[] partContents = refill(part, 1_000_000 * round + 7);
      say(rank, round, "has its tensors back");
      while (!Files.exists(mayCheck(folder, round))) {
        Thread.sleep(LOOK_MILLIS);
      }
      long changed = changed(large, largeContents) + changed(part, partContents);
      say(rank, round, "finds " + changed + " changed elements");
    }
  }

  private static void repeat(
      ProcessGroup group, Operation operation, Tensor large, Tensor part, int rank, int round) {
    say(rank, round, "begins " + operation);
    try {
      while (true) {
        operation.run(group, large, part);
      }
    } catch (CollectiveException e) {
      say(rank, round, "failed: " + e.getMessage().lines().findFirst().orElse(""));
    }
  }

  private static int[] refill(Tensor tensor, int first) {
    int[] contents = new int[(int) tensor.count()];
    for (int i = 0; i < contents.length; i++) {
      contents[i] = first + i;
    }
    tensor.copyFrom(contents);
    return contents;
  }

  private static long changed(Tensor tensor, int[] expected) {
    int[] found = new int[expected.length];
    tensor.copyTo(found);
    return IntStream.range(0, found.length).filter(i -> found[i] != expected[i]).count();
  }

  private static void say(int rank, int round, String what) {
    System.out.println(line(rank, round, what));
  }

  /** Returns a line that a rank prints. */
  static String line(int rank, int round, String what) {
    return "round " + round + ", rank " + rank + ": " + what;
  }
}
