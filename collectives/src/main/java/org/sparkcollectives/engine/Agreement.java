package org.sparkcollectives.engine;

import java.util.Arrays;
import java.util.List;
import java.util.function.Supplier;
import org.sparkcollectives.life.OperationDescription;
import org.sparkcollectives.tensor.HostTensor;
import org.sparkcollectives.transport.OperationHeader;

/**
 * In what the ranks' calls of a collective must agree beside its description: the shapes of some
 * tensors, which all ranks give alike; or how much each rank has for each, which must fit.
 *
 * @param shapes the shapes; asked for only where the ranks compare them
 * @param outgoing what goes to each rank; empty for nothing to anyone
 * @param incoming what comes from each rank; empty for nothing from anyone
 */
record Agreement(
    Supplier<List<long[]>> shapes, List<HostTensor> outgoing, List<HostTensor> incoming) {

  private static final Agreement NONE = new Agreement(List::of, List.of(), List.of());

  /** On nothing but the description. */
  static Agreement onNothing() {
    return NONE;
  }

  static Agreement onShape(HostTensor tensor) {
    return new Agreement(() -> List.<long[]>of(tensor.shape()), List.of(), List.of());
  }

  static Agreement onShapes(List<HostTensor> tensors) {
    return new Agreement(
        () -> tensors.stream().map(HostTensor::shape).toList(), List.of(), List.of());
  }

  static Agreement onCounts(List<HostTensor> outgoing, List<HostTensor> incoming) {
    return new Agreement(List::of, outgoing, incoming);
  }

  /** The call in one line, the same on all ranks that agree. */
  String call(OperationDescription description, long sequenceNumber) {
    StringBuilder text =
        new StringBuilder(description.type().label()).append(" #").append(sequenceNumber);
    if (description.dtype() != null) {
      text.append(" of ").append(description.dtype().label());
    }
    shapes.get().forEach(shape -> text.append(' ').append(Arrays.toString(shape)));
    if (description.op() != null) {
      // Without the factor of PREMUL_SUM, which each rank may choose.
      text.append(", ").append(description.op().kind());
    }
    if (description.root() != OperationHeader.NO_ROOT) {
      text.append(", root ").append(description.root());
    }
    return text.toString();
  }

  /** How many elements go to each rank; empty where the shapes say it. */
  long[] sends(int ranks) {
    return counts(outgoing, ranks);
  }

  /** How many elements come from each rank; empty where the shapes say it. */
  long[] receives(int ranks) {
    return counts(incoming, ranks);
  }

  private long[] counts(List<HostTensor> parts, int ranks) {
    if (outgoing.isEmpty() && incoming.isEmpty()) {
      return new long[0];
    }
    return parts.isEmpty()
        ? new long[ranks]
        : parts.stream().mapToLong(HostTensor::count).toArray();
  }
}
