package org.sparkcollectives.ml.internal.optim;

import java.util.Arrays;
import java.util.List;
import org.apache.spark.ml.feature.InstanceBlock;
import org.apache.spark.ml.linalg.Vector;
import org.apache.spark.ml.linalg.Vectors;
import org.apache.spark.ml.optim.aggregator.DifferentiableLossAggregator;
import org.sparkcollectives.PersistentCollective;
import org.sparkcollectives.ProcessGroup;
import org.sparkcollectives.Tensor;
import org.sparkcollectives.spark.iteration.RankOrderSum;
import scala.Tuple2;

/**
 * The loss over the rows of all ranks: what Spark's {@code RDDLossFunction} is on its driver, with
 * a broadcast and a reduction of the group where that has jobs.
 *
 * <p>Rank 0 alone decides at which point it is evaluated, and tells the others. It could not be
 * left to each of them: Spark's BLAS is another one in another JVM, and may differ in the last bit
 * of a sum.
 */
final class RankLoss {

  private static final int ROOT = 0;
  private static final double END = 0;
  private static final double EVALUATE = 1;
  private static final double KEEP = 2;

  private final ProcessGroup world;
  private final List<InstanceBlock> rows;
  private final Objective objective;

  /** One of the commands above, then the coefficients. */
  private final double[] command;

  /** Brings the command of rank 0 to all. */
  private final PersistentCollective commands;

  /** Made with the first sum, which tells the length. */
  private RankOrderSum inRankOrder;

  RankLoss(ProcessGroup world, List<InstanceBlock> rows, Objective objective) {
    this.world = world;
    this.rows = rows;
    this.objective = objective;
    this.command = new double[objective.start().length + 1];
    this.commands = world.broadcastInit(Tensor.of(command), ROOT);
  }

  /** Evaluates the loss on rank 0. The others are in {@link #serve}. */
  Evaluation evaluate(double[] coefficients) {
    System.arraycopy(coefficients, 0, command, 1, coefficients.length);
    sendCommand(EVALUATE);
    Vector at = Vectors.dense(coefficients);
    DifferentiableLossAggregator<InstanceBlock, ?> all = sum(at);
    double[] gradient = all.gradient().toArray();
    return objective
        .regularization()
        .map(penalty -> penalized(penalty.calculate(at), all.loss(), gradient))
        .orElseGet(() -> new Evaluation(all.loss(), gradient));
  }

  /** Lets the others keep a checkpoint together with rank 0, which calls this. */
  void keep() {
    sendCommand(KEEP);
  }

  /** Lets the others return from {@link #serve}. Called by rank 0. */
  void end() {
    sendCommand(END);
  }

  /**
   * Does what rank 0 wants until it has ended.
   *
   * @param checkpoint keeps a checkpoint together with rank 0
   */
  void serve(Runnable checkpoint) {
    for (double wanted = receiveCommand(); wanted != END; wanted = receiveCommand()) {
      if (wanted == KEEP) {
        checkpoint.run();
      } else {
        sum(Vectors.dense(Arrays.copyOfRange(command, 1, command.length)));
      }
    }
  }

  private void sendCommand(double wanted) {
    command[0] = wanted;
    commands.start().await();
  }

  private double receiveCommand() {
    commands.start().await();
    return command[0];
  }

  /**
   * Sums up the own rows, and on rank 0 those of all ranks, in the order of the ranks: a reduction
   * adds in an order that depends on where they run, which the bits must not.
   */
  private DifferentiableLossAggregator<InstanceBlock, ?> sum(Vector coefficients) {
    DifferentiableLossAggregator<InstanceBlock, ?> own =
        objective.aggregator().apply(new LocalBroadcast<>(coefficients));
    rows.forEach(own::add);
    double[] gradient = own.gradientSumArray();
    int length = gradient.length;
    double[] sums = Arrays.copyOf(gradient, length + 2);
    sums[length] = own.lossSum();
    sums[length + 1] = own.weightSum();
    if (inRankOrder == null) {
      inRankOrder = new RankOrderSum(world, sums.length);
    }
    double[] all = inRankOrder.reduce(sums);
    if (world.rank() == ROOT) {
      System.arraycopy(all, 0, gradient, 0, length);
      own.lossSum_$eq(all[length]);
      own.weightSum_$eq(all[length + 1]);
    }
    return own;
  }

  private static Evaluation penalized(Tuple2<Object, Vector> penalty, double loss, double[] sum) {
    double[] gradient = penalty._2().toArray();
    for (int i = 0; i < sum.length; i++) {
      sum[i] += gradient[i];
    }
    return new Evaluation(loss + (Double) penalty._1(), sum);
  }
}
