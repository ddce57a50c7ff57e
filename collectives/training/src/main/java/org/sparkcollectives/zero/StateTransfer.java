package org.sparkcollectives.zero;

import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import org.sparkcollectives.DType;
import org.sparkcollectives.ProcessGroup;
import org.sparkcollectives.Tensor;

/**
 * Moves the states of parameters between their owners and a root. The elements of one type travel
 * together: each rank sends or receives one tensor of each type.
 */
final class StateTransfer {

  private final ProcessGroup group;
  private final int root;

  StateTransfer(ProcessGroup group, int root) {
    this.group = group;
    this.root = root;
  }

  /**
   * Sends each rank's shard to the root.
   *
   * @return the shards of all ranks at the root; elsewhere empty
   */
  List<Shard> gather(Shard own) {
    List<String> texts = group.objects().gather(StatePart.encode(own.parts()), root);
    List<List<StatePart>> parts =
        texts == null ? List.of() : texts.stream().map(StatePart::decode).toList();
    List<Map<DType, Tensor>> packed = new ArrayList<>();
    parts.forEach(each -> packed.add(new EnumMap<>(DType.class)));
    for (DType type : typesAnywhere(StatePart.counts(own.parts()))) {
      List<Tensor> outputs = new ArrayList<>();
      for (int rank = 0; rank < parts.size(); rank++) {
        long count = StatePart.counts(parts.get(rank))[type.ordinal()];
        outputs.add(Tensor.allocate(type, count));
        packed.get(rank).put(type, outputs.get(rank));
      }
      group.gather(outputs, own.packed(type), root).await();
    }
    return IntStream.range(0, parts.size())
        .mapToObj(rank -> Shard.unpacked(parts.get(rank), packed.get(rank)))
        .toList();
  }

  /**
   * Sends each rank its shard from the root.
   *
   * @param shards one for each rank at the root; elsewhere empty
   * @return this rank's
   */
  Shard scatter(List<Shard> shards) {
    List<String> texts = shards.stream().map(each -> StatePart.encode(each.parts())).toList();
    List<StatePart> parts = StatePart.decode(group.objects().scatter(texts, root));
    long[] counts = StatePart.counts(parts);
    Map<DType, Tensor> packed = new EnumMap<>(DType.class);
    for (DType type : typesAnywhere(counts)) {
      Tensor output = Tensor.allocate(type, counts[type.ordinal()]);
      List<Tensor> inputs = shards.stream().map(each -> each.packed(type)).toList();
      group.scatter(output, inputs, root).await();
      packed.put(type, output);
    }
    return Shard.unpacked(parts, packed);
  }

  /** Returns the types of which any rank has elements. */
  private List<DType> typesAnywhere(long[] own) {
    long[] sums = own.clone();
    group.allReduce(Tensor.of(sums)).await();
    return IntStream.range(0, sums.length)
        .filter(i -> sums[i] > 0)
        .mapToObj(i -> DType.values()[i])
        .toList();
  }
}
