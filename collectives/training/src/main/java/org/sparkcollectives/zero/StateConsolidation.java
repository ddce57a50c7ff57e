package org.sparkcollectives.zero;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.IntStream;
import org.sparkcollectives.ProcessGroup;
import org.sparkcollectives.Tensor;
import org.sparkcollectives.ddp.Parameter;
import org.sparkcollectives.spi.CallCheck;

/** Brings the sharded state of an optimizer to one rank, and gives each rank its share again. */
final class StateConsolidation {

  private final ProcessGroup group;
  private final List<Parameter> parameters;
  private final ZeroPartition partition;
  private final LocalOptimizer local;
  private final int[] owned;

  StateConsolidation(
      ProcessGroup group,
      List<Parameter> parameters,
      ZeroPartition partition,
      LocalOptimizer local) {
    this.group = group;
    this.parameters = parameters;
    this.partition = partition;
    this.local = local;
    this.owned = partition.ownedBy(group.rank());
  }

  /** See {@link ZeroRedundancyOptimizer#consolidate}. */
  Optional<ZeroState> consolidate(int root) {
    Shard own = new Shard();
    new CallCheck(group, "consolidation of an optimizer's state")
        .compare(
            () -> {
              requireRank(root);
              for (int i : owned) {
                local.state(i).forEach((name, tensor) -> own.add(i, name, tensor));
              }
              return List.of("the root " + root);
            });
    List<Shard> shards = new StateTransfer(group, root).gather(own);
    if (shards.isEmpty()) {
      return Optional.empty();
    }
    Map<String, Map<String, Tensor>> all = new LinkedHashMap<>();
    for (int i = 0; i < parameters.size(); i++) {
      all.put(parameters.get(i).name(), shards.get(partition.owner(i)).ofParameter(i));
    }
    return Optional.of(ZeroState.of(all));
  }

  /** See {@link ZeroRedundancyOptimizer#restore}. */
  void restore(Optional<ZeroState> state, int root) {
    CallCheck check = new CallCheck(group, "restoring of an optimizer's state");
    List<Shard> shards = new ArrayList<>();
    check.compare(
        () -> {
          requireRank(root);
          if (group.rank() == root) {
            shards.addAll(byOwner(state));
          }
          return List.of("the root " + root);
        });
    Shard own = new StateTransfer(group, root).scatter(shards);
    check.byAll(
        () -> {
          for (int i : owned) {
            local.restore(i, own.ofParameter(i));
          }
        });
  }

  private List<Shard> byOwner(Optional<ZeroState> state) {
    Map<String, Map<String, Tensor>> given =
        state
            .orElseThrow(
                () -> new IllegalArgumentException("the root must give a state, and gives none"))
            .parameters();
    List<String> names = parameters.stream().map(Parameter::name).toList();
    if (given.size() != names.size() || !given.keySet().containsAll(names)) {
      throw new IllegalArgumentException(
          "the state is that of the parameters "
              + given.keySet()
              + ", and this optimizer has "
              + names);
    }
    List<Shard> shards = IntStream.range(0, group.size()).mapToObj(rank -> new Shard()).toList();
    for (int i = 0; i < names.size(); i++) {
      int parameter = i;
      given
          .get(names.get(i))
          .forEach(
              (name, tensor) ->
                  shards.get(partition.owner(parameter)).add(parameter, name, tensor));
    }
    return shards;
  }

  private void requireRank(int root) {
    if (root < 0 || root >= group.size()) {
      throw new IllegalArgumentException(
          "the root " + root + " is not a rank of the group, only 0 to " + (group.size() - 1));
    }
  }
}
