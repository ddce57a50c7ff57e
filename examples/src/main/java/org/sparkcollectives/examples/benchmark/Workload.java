package org.sparkcollectives.examples.benchmark;

import java.util.ArrayList;
import java.util.List;
import org.sparkcollectives.P2POp;
import org.sparkcollectives.PersistentCollective;
import org.sparkcollectives.ProcessGroup;
import org.sparkcollectives.Tensor;
import org.sparkcollectives.Work;
import org.sparkcollectives.reproducible.ReproducibleSum;

/** One operation on tensors of one count, which all ranks run repeatedly. */
final class Workload {

  private static final int TAG = 0;

  private final ProcessGroup group;
  private final Plan plan;
  private final long count;
  private final Tensor input;
  private final Tensor output;
  private final TensorContents contents;
  private final List<Tensor> parts;

  /** The sum of {@link Operation#REPRODUCIBLE_SUM}; else null. */
  private final ReproducibleSum sum;

  /** The operation, where it is prepared once; else null. */
  private final PersistentCollective prepared;

  /**
   * Creates the workload for {@code count} elements; the given tensors may be longer.
   *
   * @param input null if the operation has none
   * @param output null if the operation has none
   */
  Workload(ProcessGroup group, Plan plan, long count, Tensor input, Tensor output) {
    this.group = group;
    this.plan = plan;
    this.count = count;
    int ranks = group.size();
    this.input =
        input == null ? null : input.slice(0, plan.operation().inputElements(count, ranks));
    this.output =
        output == null ? null : output.slice(0, plan.operation().outputElements(count, ranks));
    this.contents = new TensorContents(plan.dtype());
    this.parts = parts();
    this.sum =
        plan.operation() == Operation.REPRODUCIBLE_SUM ? ReproducibleSum.ofLength(count) : null;
    this.prepared = plan.persistent() ? prepare() : null;
  }

  private PersistentCollective prepare() {
    return switch (plan.operation()) {
      case ALL_REDUCE -> group.allReduceInit(output, plan.reduceOp());
      case BROADCAST -> group.broadcastInit(output, plan.root());
      case ALL_GATHER -> group.allGatherInit(output, input);
      case REDUCE_SCATTER -> group.reduceScatterInit(output, input, plan.reduceOp());
      case GATHER -> group.gatherInit(parts, input, plan.root());
      default -> throw new IllegalStateException(plan.operation() + " cannot be prepared");
    };
  }

  /** Returns the root's list of tensors; empty on other ranks and for operations without a list. */
  private List<Tensor> parts() {
    List<Tensor> list = new ArrayList<>();
    Tensor whole =
        switch (plan.operation()) {
          case GATHER -> output;
          case SCATTER -> input;
          default -> null;
        };
    if (whole != null && group.rank() == plan.root()) {
      for (int rank = 0; rank < group.size(); rank++) {
        list.add(whole.slice(rank * count, count));
      }
    }
    return list;
  }

  /** Runs the operation once. Blocks until it is done on this rank. */
  void run() {
    if (prepared != null) {
      prepared.start().await();
      return;
    }
    switch (plan.operation()) {
      case ALL_REDUCE -> group.allReduce(output, plan.reduceOp()).await();
      case REPRODUCIBLE_SUM -> sumReproducibly();
      case REDUCE -> group.reduce(output, plan.reduceOp(), plan.root()).await();
      case BROADCAST -> group.broadcast(output, plan.root()).await();
      case ALL_GATHER -> group.allGather(output, input).await();
      case REDUCE_SCATTER -> group.reduceScatter(output, input, plan.reduceOp()).await();
      case ALL_TO_ALL -> group.allToAll(output, input).await();
      case GATHER -> group.gather(parts, input, plan.root()).await();
      case SCATTER -> group.scatter(output, parts, plan.root()).await();
      case SEND_RECV -> sendAndReceive();
      case BARRIER -> group.barrier().await();
    }
  }

  private void sumReproducibly() {
    sum.clear();
    sum.add(input).allReduce(group, output);
  }

  /** Sends to the next rank, and receives from the previous one. */
  private void sendAndReceive() {
    for (Work work :
        group.batch(
            List.of(
                P2POp.recv(output, previous(), TAG),
                P2POp.send(input, (group.rank() + 1) % group.size(), TAG)))) {
      work.await();
    }
  }

  private int previous() {
    return (group.rank() + group.size() - 1) % group.size();
  }

  /**
   * Sets all elements to zero, which they stay however often they are summed up; but those of a
   * reproducible sum to numbers, as it is quicker with zeros.
   */
  void clear() {
    if (input != null) {
      contents.fill(input, place -> sum == null ? 0 : 1 + place % 97);
    }
    if (output != null) {
      contents.fill(output, place -> 0);
    }
  }

  /** Runs the operation on known numbers and counts the wrong elements of this rank's result. */
  long wrongElements() {
    TestData data = new TestData(plan, group.size());
    Tensor contribution = input == null ? output : input;
    if (contribution != null) {
      contents.fill(contribution, place -> data.value(group.rank(), place));
    }
    run();
    return hasResult() ? contents.wrong(output, expected(data)) : 0;
  }

  private boolean hasResult() {
    return switch (plan.operation()) {
      case BARRIER -> false;
      case GATHER -> group.rank() == plan.root();
      default -> true;
    };
  }

  private TensorContents.Numbers expected(TestData data) {
    int rank = group.rank();
    long part = count * contents.places();
    return switch (plan.operation()) {
      case ALL_REDUCE, REPRODUCIBLE_SUM -> data::reduced;
      case REDUCE -> rank == plan.root() ? data::reduced : place -> data.value(rank, place);
      case BROADCAST -> place -> data.value(plan.root(), place);
      case ALL_GATHER, GATHER -> place -> data.value((int) (place / part), place % part);
      case REDUCE_SCATTER -> place -> data.reduced(rank * part + place);
      case ALL_TO_ALL -> place -> data.value((int) (place / part), rank * part + place % part);
      case SCATTER -> place -> data.value(plan.root(), rank * part + place);
      case SEND_RECV -> place -> data.value(previous(), place);
      case BARRIER -> throw new IllegalStateException("A barrier has no result");
    };
  }
}
