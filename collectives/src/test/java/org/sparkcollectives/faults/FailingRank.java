package org.sparkcollectives.faults;

import java.io.IOException;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.Random;
import org.sparkcollectives.CollectiveException;
import org.sparkcollectives.DType;
import org.sparkcollectives.GroupOptions;
import org.sparkcollectives.ProcessGroup;
import org.sparkcollectives.ProcessGroups;
import org.sparkcollectives.ReduceOp;
import org.sparkcollectives.Tensor;
import org.sparkcollectives.spi.tensor.FaultyMemory;
import org.sparkcollectives.store.Store;
import org.sparkcollectives.store.TcpStore;

/**
 * A rank that makes groups of which each fails in another way: some as worlds of their own, some as
 * groups made from a world that goes on. All ranks draw the same random numbers.
 */
final class FailingRank {

  private static final int SIZE = SoakRank.SIZE;

  /** Elements of a small message, and of one that is copied or sent in several pieces. */
  private static final int[] COUNTS = {12, 300_000};

  private static final List<String[]> PATHS =
      List.of(new String[] {"shm", "tcp"}, new String[] {"tcp"});

  private static final Duration SHORT = Duration.ofMillis(300);

  /** How a group fails. */
  private enum Fault {
    /** A tensor throws when the operation uses it. */
    TENSOR {
      @Override
      void happen(ProcessGroup group, boolean guilty, int count) {
        Tensor tensor =
            guilty
                ? new FaultyMemory(0, () -> new IllegalStateException("of a tensor"))
                    .tensor(DType.FLOAT32, count)
                : Tensor.allocate(DType.FLOAT32, count);
        group.allReduce(tensor, ReduceOp.SUM).await();
      }
    },
    /** A rank aborts the group. */
    ABORT {
      @Override
      void happen(ProcessGroup group, boolean guilty, int count) {
        if (guilty) {
          group.abort(new IllegalStateException("the model has diverged"));
        }
        group.allReduce(Tensor.allocate(DType.FLOAT32, count), ReduceOp.SUM).await();
      }
    },
    /** A rank closes the group while the others wait for it. */
    LEAVE {
      @Override
      void happen(ProcessGroup group, boolean guilty, int count) {
        if (guilty) {
          throw new CollectiveException("leaves");
        }
        group.broadcast(Tensor.allocate(DType.FLOAT32, count), group.size() - 1).await();
        group.barrier().await();
      }
    },
    /** A rank does not come in time. */
    TIMEOUT {
      @Override
      void happen(ProcessGroup group, boolean guilty, int count) {
        if (guilty) {
          group.recv(Tensor.allocate(DType.FLOAT32, count), (group.rank() + 1) % SIZE, 1).await();
        }
        ProcessGroup hurried = group.withTimeout(SHORT);
        hurried.allReduce(Tensor.allocate(DType.FLOAT32, count), ReduceOp.SUM).await();
      }
    },
    /** A message is longer than the tensor that receives it. */
    TOO_LONG {
      @Override
      void happen(ProcessGroup group, boolean guilty, int count) {
        int to = (group.rank() + 1) % SIZE;
        int from = (group.rank() + SIZE - 1) % SIZE;
        Tensor sent = Tensor.allocate(DType.FLOAT32, guilty ? count + 1 : count);
        var sending = group.send(sent, to, 0);
        group.recv(Tensor.allocate(DType.FLOAT32, count), from, 0).await();
        sending.await();
        group.barrier().await();
      }
    };

    /** Does what fails on every rank. */
    abstract void happen(ProcessGroup group, boolean guilty, int count);
  }

  private FailingRank() {}

  /** Runs the rank. Arguments: as those of {@link SoakRank}, with a number of groups. */
  public static void main(String[] arguments) throws IOException {
    int rank = Integer.parseInt(arguments[0]);
    int groups = Integer.parseInt(arguments[2]);
    Random random = new Random(Long.parseLong(arguments[3]));
    int measures = Integer.parseInt(arguments[4]);
    try (Store store =
            TcpStore.connect("127.0.0.1", Integer.parseInt(arguments[1]), Duration.ofMinutes(1));
        ProcessGroup world = ProcessGroups.create(store, rank, SIZE, named("world"))) {
      int made = 0;
      for (int measure = 1; measure <= measures; measure++) {
        while (made < groups * measure / measures) {
          boolean ofItsOwn = random.nextBoolean();
          GroupOptions options = named("failing-" + made).withTransports(PATHS.get(made % 2));
          Fault fault = Fault.values()[made % Fault.values().length];
          int guilty = random.nextInt(SIZE);
          int count = COUNTS[random.nextInt(COUNTS.length)];
          ProcessGroup group =
              ofItsOwn ? ProcessGroups.create(store, rank, SIZE, options) : world.newGroup(options);
          fail(group, fault, rank == guilty, count);
          made++;
        }
        world.barrier().await();
        System.out.println("footprint " + Footprint.now().encode());
      }
      // Collections take their time, and no rank must miss the others meanwhile.
      world.barrier().await();
    }
    System.out.println("done");
  }

  private static GroupOptions named(String name) {
    return GroupOptions.defaults().withName(name);
  }

  private static void fail(ProcessGroup group, Fault fault, boolean guilty, int count) {
    try (group) {
      fault.happen(group, guilty, count);
    } catch (CollectiveException expected) {
      return;
    }
    throw new IllegalStateException(
        String.format(Locale.ROOT, "nothing failed: %s with %d elements", fault, count));
  }
}
