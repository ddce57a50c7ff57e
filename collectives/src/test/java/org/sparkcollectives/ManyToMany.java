package org.sparkcollectives;

import java.util.Arrays;
import org.sparkcollectives.testing.RankThreads;

/** Runs some of the ranks of a world, as threads of a process: each exchanges data with all. */
final class ManyToMany {

  /** The elements for each rank. */
  private static final int COUNT = 16 * 1024;

  private static final int ROUNDS = 3;

  private ManyToMany() {}

  /**
   * Runs the ranks. Arguments: the first rank, the one after the last, the size of the world, the
   * URL.
   */
  public static void main(String[] args) {
    int first = Integer.parseInt(args[0]);
    int here = Integer.parseInt(args[1]) - first;
    int size = Integer.parseInt(args[2]);
    GroupOptions options = GroupOptions.defaults().withName("many").withTransports("heap", "tcp");
    RankThreads.run(
        here,
        index -> {
          int rank = first + index;
          try (ProcessGroup world = Rendezvous.join(args[3], rank, size, options)) {
            for (int round = 0; round < ROUNDS; round++) {
              exchange(world, round);
            }
            world.barrier().await();
          }
          return null;
        });
    System.out.println("exchanged");
  }

  private static void exchange(ProcessGroup world, int round) {
    float[] mine = new float[COUNT * world.size()];
    float[] theirs = new float[mine.length];
    Arrays.fill(mine, world.rank() + 1000 * round);
    world.allToAll(Tensor.of(theirs), Tensor.of(mine)).await();
    for (int i = 0; i < theirs.length; i++) {
      if (theirs[i] != i / COUNT + 1000 * round) {
        throw new AssertionError("rank " + world.rank() + " has " + theirs[i] + " at " + i);
      }
    }
  }
}
