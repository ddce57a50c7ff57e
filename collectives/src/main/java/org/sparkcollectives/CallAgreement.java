package org.sparkcollectives;

import java.util.List;
import java.util.Objects;
import java.util.function.Supplier;

/**
 * In what the ranks' calls of a collective must agree beside its type, reduction and root: the
 * shapes of some tensors, which all ranks give alike; or how much each rank has for each, which
 * must fit. The ranks compare it at {@link DebugLevel#DETAIL}.
 *
 * @param device where the tensors lie
 * @param shapes the shapes; asked for only where the ranks compare them
 * @param outgoing what goes to each rank; empty for nothing to anyone
 * @param incoming what comes from each rank; empty for nothing from anyone
 */
public record CallAgreement(
    Device.Type device,
    Supplier<List<long[]>> shapes,
    List<? extends Tensor> outgoing,
    List<? extends Tensor> incoming) {

  private static final CallAgreement NONE =
      new CallAgreement(Device.Type.CPU, List::of, List.of(), List.of());

  /** Refuses null. */
  public CallAgreement {
    Objects.requireNonNull(device, "device");
    Objects.requireNonNull(shapes, "shapes");
    Objects.requireNonNull(outgoing, "outgoing");
    Objects.requireNonNull(incoming, "incoming");
  }

  /** On nothing. */
  public static CallAgreement onNothing() {
    return NONE;
  }

  /** On the shape of a tensor that all ranks give. */
  public static CallAgreement onShape(Tensor tensor) {
    return onShapes(List.of(tensor));
  }

  /** On the shapes of tensors, at least one, that all ranks give. */
  public static CallAgreement onShapes(List<? extends Tensor> tensors) {
    return new CallAgreement(
        tensors.get(0).device().type(),
        () -> tensors.stream().map(Tensor::shape).toList(),
        List.of(),
        List.of());
  }

  /** On how many elements go from each rank to each; one of the lists may be empty. */
  public static CallAgreement onCounts(
      List<? extends Tensor> outgoing, List<? extends Tensor> incoming) {
    Tensor any = outgoing.isEmpty() ? incoming.get(0) : outgoing.get(0);
    return new CallAgreement(any.device().type(), List::of, outgoing, incoming);
  }

  /** How many elements go to each rank; empty where the shapes say it. */
  public long[] sends(int ranks) {
    return counts(outgoing, ranks);
  }

  /** How many elements come from each rank; empty where the shapes say it. */
  public long[] receives(int ranks) {
    return counts(incoming, ranks);
  }

  private long[] counts(List<? extends Tensor> parts, int ranks) {
    if (outgoing.isEmpty() && incoming.isEmpty()) {
      return new long[0];
    }
    return parts.isEmpty() ? new long[ranks] : parts.stream().mapToLong(Tensor::count).toArray();
  }
}
