package org.sparkcollectives.examples.digits;

import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Random;
import java.util.stream.IntStream;
import org.sparkcollectives.ProcessGroup;
import org.sparkcollectives.ReduceOp;
import org.sparkcollectives.Tensor;

/**
 * The samples of one rank in batches. All ranks have the same number of steps; a rank with fewer
 * samples has empty batches.
 *
 * <p>The ranks shuffle their batches, and not their rows, in the same way: then a step is on the
 * same rows whatever the number of ranks, and the model can be compared with that of one process.
 */
final class Batches {

  private final List<Sample> samples;
  private final int size;
  private final List<Integer> order;
  private final Random random;

  /**
   * Divides the samples. All ranks call this; some may have no samples.
   *
   * @throws IllegalArgumentException on all ranks, if no rank has any
   */
  Batches(ProcessGroup world, TrainingOptions options, List<Sample> samples) {
    this.samples = samples;
    this.size = Math.max(1, options.batch() / world.size());
    int[] most = {(samples.size() + size - 1) / size};
    world.allReduce(Tensor.of(most), ReduceOp.MAX).await();
    if (most[0] == 0) {
      throw new IllegalArgumentException("There are no samples to train on");
    }
    this.order = Arrays.asList(IntStream.range(0, most[0]).boxed().toArray(Integer[]::new));
    this.random = new Random(options.seed());
  }

  /** Returns the number of steps of an epoch. */
  int count() {
    return order.size();
  }

  /** Returns the batches of the next epoch. */
  List<List<Sample>> nextEpoch() {
    Collections.shuffle(order, random);
    return order.stream().map(this::batch).toList();
  }

  private List<Sample> batch(int number) {
    int from = Math.min(samples.size(), number * size);
    return samples.subList(from, Math.min(samples.size(), from + size));
  }
}
