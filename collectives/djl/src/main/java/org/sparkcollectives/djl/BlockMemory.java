package org.sparkcollectives.djl;

import ai.djl.Device;
import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDManager;
import ai.djl.nn.Block;
import ai.djl.training.optimizer.Optimizer;
import ai.djl.util.Pair;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.sparkcollectives.DType;
import org.sparkcollectives.ProcessGroup;
import org.sparkcollectives.Tensor;
import org.sparkcollectives.ddp.ModelState;
import org.sparkcollectives.ddp.Parameter;

/**
 * The memory of a block's parameters, and the ways of gradients between the engine and a reducer:
 * one copy in, and one out.
 */
final class BlockMemory implements AutoCloseable {

  private final NDManager memory;
  private final List<TrainedParameter> trained;
  private final List<Parameter> values = new ArrayList<>();
  private final List<Parameter> reduced;

  /** Holds one averaged gradient while the optimizer uses it. */
  private final ByteBuffer mean;

  private BlockMemory(Block block) {
    trained = TrainedParameter.of(block);
    memory = NDManager.newBaseManager(Device.cpu(), trained.get(0).engine().getEngineName());
    try {
      for (Pair<String, ai.djl.nn.Parameter> each : block.getParameters()) {
        TrainedParameter any = new TrainedParameter(each.getKey(), each.getValue());
        values.add(new Parameter(any.name(), DjlParameters.value(any, memory), null, false));
      }
      reduced =
          trained.stream()
              .map(one -> Parameter.of(one.name(), DjlParameters.value(one, memory)))
              .toList();
      long largest = reduced.stream().mapToLong(one -> one.value().byteSize()).max().orElse(0);
      mean = ByteBuffer.allocateDirect((int) largest).order(ByteOrder.nativeOrder());
    } catch (RuntimeException | Error e) {
      memory.close();
      throw e;
    }
  }

  /**
   * Opens the memory, and gives all ranks the values of rank 0. A collective.
   *
   * @throws IllegalArgumentException on all ranks, if one of them cannot open its own, or the
   *     blocks have different parameters
   */
  static BlockMemory onAllRanks(ProcessGroup group, Block block) {
    BlockMemory own = null;
    Throwable problem = null;
    try {
      own = new BlockMemory(block);
    } catch (RuntimeException | OutOfMemoryError e) { // Else the other ranks would wait in vain.
      problem = e;
    }
    try {
      requireNone(group, problem);
      ModelState.verify(group, own.values);
      ModelState.broadcast(group, own.values.stream().map(Parameter::value).toList(), 0);
      return own;
    } catch (RuntimeException | Error e) {
      if (own != null) {
        own.close();
      }
      throw e;
    }
  }

  private static void requireNone(ProcessGroup group, Throwable problem) {
    List<String> problems = group.objects().allGather(problem == null ? "" : problem.toString());
    String text =
        IntStream.range(0, problems.size())
            .filter(rank -> !problems.get(rank).isEmpty())
            .mapToObj(rank -> "rank " + rank + ": " + problems.get(rank))
            .collect(Collectors.joining("; "));
    if (!text.isEmpty()) {
      throw new IllegalArgumentException(
          "No rank of group \""
              + group.name()
              + "\" can train its block, here rank "
              + group.rank()
              + ": "
              + text,
          problem);
    }
  }

  /** Returns the parameters that are trained, in the block's order. */
  List<TrainedParameter> trained() {
    return trained;
  }

  /** Returns what a reducer needs of the trained ones; it allocates the gradients. */
  List<Parameter> reduced() {
    return reduced;
  }

  /**
   * Checks a gradient that the engine gives.
   *
   * @throws IllegalStateException if it has another type or shape than its parameter
   */
  void requireFits(int position, NDArray gradient) {
    TrainedParameter parameter = trained.get(position);
    NDArray value = parameter.array();
    if (gradient.getDataType() != value.getDataType()
        || !gradient.getShape().equals(value.getShape())) {
      throw new IllegalStateException(
          "The gradient of "
              + parameter.name()
              + " is "
              + gradient.getDataType()
              + gradient.getShape()
              + ", and the parameter "
              + value.getDataType()
              + value.getShape());
    }
  }

  /** Copies a gradient of the engine, whatever the order of its elements in memory. */
  void copyGradient(int position, NDArray gradient, Tensor to) {
    if (to.count() == 0) {
      return;
    }
    try (NDManager scope = gradient.getManager().newSubManager()) {
      gradient.tempAttach(scope); // Where the engine must order the elements, the copy is closed.
      DType dtype = reduced.get(position).value().dtype();
      to.copyFrom(Tensor.wrap(dtype, gradient.toByteBuffer(true)));
    }
  }

  /** Sets a gradient to zero. */
  void clear(Tensor gradient) {
    gradient.copyFrom(Tensor.allocate(gradient.dtype(), gradient.count()));
  }

  /** Lets an optimizer update a parameter with an averaged gradient. */
  void update(Optimizer optimizer, int position, Tensor gradient) {
    TrainedParameter parameter = trained.get(position);
    NDArray weight = parameter.array();
    ByteBuffer buffer = mean.slice(0, (int) gradient.byteSize()).order(ByteOrder.nativeOrder());
    try (NDManager scope = weight.getManager().newSubManager()) {
      if (gradient.count() > 0) {
        Tensor.wrap(gradient.dtype(), buffer).copyFrom(gradient);
      }
      optimizer.update(
          parameter.parameter().getId(),
          weight,
          scope.create(buffer, weight.getShape(), weight.getDataType()));
    }
  }

  @Override
  public void close() {
    memory.close();
  }
}
