package org.sparkcollectives.zero;

import java.util.ArrayList;
import java.util.EnumMap;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.sparkcollectives.DType;
import org.sparkcollectives.Tensor;

/** The state of the parameters that one rank owns, with its parts in a fixed order. */
final class Shard {

  private final List<StatePart> parts = new ArrayList<>();
  private final Map<Integer, Map<String, Tensor>> byParameter = new HashMap<>();

  void add(int parameter, String name, Tensor tensor) {
    add(StatePart.of(parameter, name, tensor), tensor);
  }

  private void add(StatePart part, Tensor tensor) {
    parts.add(part);
    byParameter
        .computeIfAbsent(part.parameter(), i -> new LinkedHashMap<>())
        .put(part.name(), tensor);
  }

  List<StatePart> parts() {
    return parts;
  }

  /** Returns the parts of a parameter by their names. */
  Map<String, Tensor> ofParameter(int parameter) {
    return byParameter.getOrDefault(parameter, Map.of());
  }

  /** Returns copies of all elements of a type, one part after the other. */
  Tensor packed(DType type) {
    Tensor packed = Tensor.allocate(type, StatePart.counts(parts)[type.ordinal()]);
    long offset = 0;
    for (StatePart each : parts) {
      if (each.dtype() == type) {
        packed.slice(offset, each.count()).copyFrom(ofParameter(each.parameter()).get(each.name()));
        offset += each.count();
      }
    }
    return packed;
  }

  /** Returns the shard whose parts are views of what {@link #packed} has returned elsewhere. */
  static Shard unpacked(List<StatePart> parts, Map<DType, Tensor> packed) {
    Shard shard = new Shard();
    Map<DType, Long> offsets = new EnumMap<>(DType.class);
    for (StatePart each : parts) {
      long offset = offsets.getOrDefault(each.dtype(), 0L);
      // Of a type without elements nothing was sent.
      Tensor all = packed.getOrDefault(each.dtype(), Tensor.allocate(each.dtype(), 0));
      shard.add(each, all.slice(offset, each.count()).reshape(each.extents()));
      offsets.put(each.dtype(), offset + each.count());
    }
    return shard;
  }
}
