package org.sparkcollectives.spark.elastic;

import java.util.ArrayList;
import java.util.List;
import org.sparkcollectives.DType;
import org.sparkcollectives.Tensor;
import org.sparkcollectives.spi.tensor.HostTensor;

/** Parameters that are synchronized together, with what belongs to them. Not thread-safe. */
final class Fragment {

  private static final int TILE = 4096;

  /** One parameter; {@code velocity} is null without an outer momentum. */
  private record Part(HostTensor local, HostTensor global, HostTensor change, HostTensor velocity) {

    static Part of(Tensor parameter, boolean momentum) {
      Part part =
          new Part(
              HostTensor.of(parameter),
              like(parameter),
              like(parameter),
              momentum ? like(parameter) : null);
      part.global.copyFrom(parameter);
      return part;
    }

    private static HostTensor like(Tensor parameter) {
      return HostTensor.of(Tensor.allocate(parameter.dtype(), parameter.shape()));
    }
  }

  private final List<Part> parts;

  /** Creates a fragment whose global parameters are the present ones. */
  Fragment(List<Tensor> parameters, boolean momentum) {
    parts = parameters.stream().map(each -> Part.of(each, momentum)).toList();
  }

  /** Returns what all replicas have the same of. */
  List<Tensor> state() {
    List<Tensor> state = new ArrayList<>();
    for (Part each : parts) {
      state.add(each.global);
      if (each.velocity != null) {
        state.add(each.velocity);
      }
    }
    return state;
  }

  /**
   * Returns what the parameters must be changed by to be the global ones again.
   *
   * @param own whether they come from those; else the change is 0
   */
  List<Tensor> changes(boolean own) {
    for (Part each : parts) {
      tiles(
          each.local.count(),
          (at, count, elements) -> {
            double[] changes = elements[0];
            if (own) {
              read(each.global, at, count, changes);
              read(each.local, at, count, elements[1]);
              for (int i = 0; i < count; i++) {
                changes[i] -= elements[1][i];
              }
            }
            write(each.change, at, count, changes);
          });
    }
    return parts.stream().<Tensor>map(Part::change).toList();
  }

  /**
   * Goes one step from the global parameters: against the mean of the changes, as {@code
   * torch.optim.SGD} does with a gradient.
   *
   * @param replicas how many have added up their changes
   */
  void step(long replicas, DiLoCoOptions options) {
    for (Part each : parts) {
      tiles(
          each.local.count(),
          (at, count, elements) -> step(each, at, count, elements, replicas, options));
    }
  }

  private static void step(
      Part part, long at, int count, double[][] elements, long replicas, DiLoCoOptions options) {
    double[] global = elements[0];
    double[] change = elements[1];
    double[] velocity = elements[2];
    read(part.global, at, count, global);
    read(part.change, at, count, change);
    if (part.velocity != null) {
      read(part.velocity, at, count, velocity);
    }
    double momentum = options.momentum();
    for (int i = 0; i < count; i++) {
      double mean = change[i] / replicas;
      velocity[i] = momentum * velocity[i] + mean;
      global[i] -=
          options.learningRate() * (part.velocity == null ? mean : mean + momentum * velocity[i]);
    }
    write(part.global, at, count, global);
    if (part.velocity != null) {
      write(part.velocity, at, count, velocity);
    }
  }

  /** Sets the parameters to the global ones. */
  void toGlobal() {
    parts.forEach(each -> each.local.copyFrom(each.global));
  }

  /** Computes with some elements of several tensors, in double precision. */
  private interface Tile {
    void run(long at, int count, double[][] elements);
  }

  private static void tiles(long elements, Tile tile) {
    for (long at = 0; at < elements; at += TILE) {
      tile.run(at, (int) Math.min(TILE, elements - at), new double[3][TILE]);
    }
  }

  private static void read(HostTensor tensor, long at, int count, double[] elements) {
    if (tensor.dtype() == DType.FLOAT64) {
      tensor.toArray(at, count, elements, 0);
      return;
    }
    float[] floats = new float[count];
    tensor.toArray(at, count, floats, 0);
    for (int i = 0; i < count; i++) {
      elements[i] = floats[i];
    }
  }

  private static void write(HostTensor tensor, long at, int count, double[] elements) {
    if (tensor.dtype() == DType.FLOAT64) {
      tensor.fromArray(at, count, elements, 0);
      return;
    }
    float[] floats = new float[count];
    for (int i = 0; i < count; i++) {
      floats[i] = (float) elements[i];
    }
    tensor.fromArray(at, count, floats, 0);
  }
}
