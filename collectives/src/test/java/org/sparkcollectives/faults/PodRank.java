package org.sparkcollectives.faults;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.Stream;
import org.sparkcollectives.CollectivesConfiguration;
import org.sparkcollectives.GroupOptions;
import org.sparkcollectives.ProcessGroup;
import org.sparkcollectives.ReduceOp;
import org.sparkcollectives.Rendezvous;
import org.sparkcollectives.Tensor;

/**
 * A process that is one of two ranks, and prints where it is:
 *
 * <pre>
 *   place ID                     its process id
 *   ranks-here COUNT             how many ranks it takes to be on its host
 *   shared-memory COUNT          how many pieces of shared memory it has mapped after all-reduces
 *   reduced SUM                  what they gave
 * </pre>
 */
final class PodRank {

  private static final int COUNT = 1 << 20;

  private PodRank() {}

  /**
   * Runs the process, which ends by itself.
   *
   * @param arguments the URL with the rank, and the folder of shared memory
   */
  public static void main(String[] arguments) throws IOException {
    String folder = arguments[1];
    System.setProperty(CollectivesConfiguration.SHM_FOLDER.key(), folder);
    GroupOptions options = GroupOptions.defaults().withTimeout(FaultSettings.PATIENCE);
    System.out.println("place\t" + ProcessHandle.current().pid());
    try (ProcessGroup world = Rendezvous.join(arguments[0], options)) {
      float[] small = {1};
      float[] large = new float[COUNT];
      large[COUNT - 1] = 1;
      for (int i = 0; i < 3; i++) {
        world.allReduce(Tensor.of(small), ReduceOp.SUM).await();
        world.allReduce(Tensor.of(large), ReduceOp.SUM).await();
      }
      System.out.println("ranks-here\t" + world.localSize());
      System.out.println("shared-memory\t" + mapped(folder));
      System.out.println("reduced\t" + (int) small[0] + " " + (int) large[COUNT - 1]);
      // No rank leaves while the other still looks.
      world.barrier().await();
    }
  }

  private static long mapped(String folder) throws IOException {
    try (Stream<String> maps = Files.lines(Path.of("/proc/self/maps"))) {
      return maps.filter(each -> each.contains(folder)).count();
    }
  }
}
