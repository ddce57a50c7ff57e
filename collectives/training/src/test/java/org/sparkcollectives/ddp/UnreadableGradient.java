package org.sparkcollectives.ddp;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import org.sparkcollectives.DType;
import org.sparkcollectives.ProcessGroup;
import org.sparkcollectives.SharedMemory;
import org.sparkcollectives.Tensor;

/** Makes a parameter whose gradient throws on one rank as soon as it is read. */
final class UnreadableGradient {

  private UnreadableGradient() {}

  /** Returns a single parameter of three elements, called weight. */
  static List<Parameter> onRankOne(ProcessGroup group) throws IOException {
    Tensor gradient = group.rank() == 1 ? unreadable() : Tensor.of(0f, 0f, 0f);
    return List.of(new Parameter("weight", Tensor.of(1f, 2f, 3f), gradient, false));
  }

  private static Tensor unreadable() throws IOException {
    try (SharedMemory memory = SharedMemory.create(Path.of("/dev/shm"), 12)) {
      return memory.tensor(DType.FLOAT32, 0, 3);
    }
  }
}
