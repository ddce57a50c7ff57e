package org.sparkcollectives.djl;

import ai.djl.Device;
import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDManager;
import ai.djl.nn.Block;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Supplier;
import org.sparkcollectives.Tensor;
import org.sparkcollectives.ddp.Parameter;

/**
 * The trained parameters of a DJL block, whose tensors are the engine's own memory: what a
 * collective writes into a gradient is what the optimizer reads, and nothing is copied.
 *
 * <p>A training loop that calls {@code backward} itself gives {@link #list()} to a reducer, reduces
 * after each backward pass, and calls {@code Trainer.step()}.
 *
 * <p>The tensors are of the memory that parameters and gradients have when this is created. The
 * engine keeps it as long as this is open, even if the model is closed earlier. After {@link
 * #close()} no tensor of the list may be used any more, so a reducer is closed first. Parameters
 * must not be moved to another device or frozen meanwhile.
 *
 * <p>An instance may be used by one thread at a time.
 */
public final class DjlParameters implements AutoCloseable {

  /** Holds what the tensors lie in. It is not of the model, which may be closed first. */
  private final NDManager memory;

  private final List<Parameter> list;

  private DjlParameters(NDManager memory, List<Parameter> list) {
    this.memory = memory;
    this.list = list;
  }

  /**
   * Returns the trained parameters of a block: in the block's order, with its names, without frozen
   * ones. A parameter that has no gradient yet gets one of zeros. The call does not communicate.
   *
   * @throws IllegalArgumentException if a parameter is not initialized, not on the CPU, not of a
   *     floating-point type, has more than 2<sup>31</sup> - 1 bytes, or its elements do not lie one
   *     after the other, as those of a transposed array; and if the block has no trained parameter
   */
  public static DjlParameters of(Block block) {
    List<TrainedParameter> trained = TrainedParameter.of(block);
    String engine = trained.get(0).engine().getEngineName();
    NDManager memory = NDManager.newBaseManager(Device.cpu(), engine);
    try {
      List<Parameter> list = new ArrayList<>();
      for (TrainedParameter parameter : trained) {
        list.add(
            new Parameter(
                parameter.name(), value(parameter, memory), gradient(parameter, memory), false));
      }
      return new DjlParameters(memory, List.copyOf(list));
    } catch (RuntimeException | Error e) {
      memory.close();
      throw e;
    }
  }

  /** Returns the parameters, in the block's order; immutable. */
  public List<Parameter> list() {
    return list;
  }

  /**
   * Gives the memory back to the engine, which keeps what the model itself still uses. Closing
   * twice does nothing.
   */
  @Override
  public void close() {
    memory.close();
  }

  static Tensor value(TrainedParameter parameter, NDManager memory) {
    return NativeMemory.of(
            "The parameter " + parameter.name(),
            () -> attached(parameter.array().stopGradient(), memory))
        .orElseThrow(() -> scattered(parameter));
  }

  private static Tensor gradient(TrainedParameter parameter, NDManager memory) {
    String what = "The gradient of the parameter " + parameter.name();
    Supplier<NDArray> gradient = () -> attached(parameter.array().getGradient(), memory);
    // Until the first backward pass there is no gradient, and the engine gives new zeros each time.
    return NativeMemory.of(what, gradient)
        .or(
            () -> {
              makeGradient(parameter);
              return NativeMemory.of(what, gradient);
            })
        .orElseThrow(() -> scattered(parameter));
  }

  private static void makeGradient(TrainedParameter parameter) {
    try (RankGradients gradients = RankGradients.open(List.of(parameter));
        NDManager scope = parameter.array().getManager().newSubManager()) {
      NDArray array = parameter.array();
      array.tempAttach(scope);
      gradients.backward(array.mul(0).sum());
    }
  }

  private static NDArray attached(NDArray array, NDManager memory) {
    array.attach(memory);
    return array;
  }

  private static IllegalArgumentException scattered(TrainedParameter parameter) {
    return new IllegalArgumentException(
        "The elements of the parameter "
            + parameter.name()
            + " of the shape "
            + parameter.array().getShape()
            + " or those of its gradient do not lie one after the other, so the engine gives"
            + " copies of them only; set a contiguous array, such as array.duplicate() of one that"
            + " is not transposed");
  }
}
