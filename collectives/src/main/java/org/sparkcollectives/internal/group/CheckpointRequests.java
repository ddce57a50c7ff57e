package org.sparkcollectives.internal.group;

import java.util.List;
import org.sparkcollectives.ProcessGroup;
import org.sparkcollectives.Tensor;
import org.sparkcollectives.internal.checkpoint.Checkpoints;
import org.sparkcollectives.spi.tensor.HostTensor;

/**
 * Carries out a user's calls for checkpoints: checks the arguments and has {@link Checkpoints} do
 * the rest.
 *
 * @param group whose checkpoints they are
 * @param view the group, for the parts of one call
 * @param arguments checks what the user gives
 */
record CheckpointRequests(RankGroup group, ProcessGroup view, Arguments arguments) {

  void save(String name, List<Tensor> tensors, boolean replicated) {
    String operation = replicated ? "checkpoint-replicated" : "checkpoint";
    List<HostTensor> checked = checked(operation, name, tensors);
    group
        .monitor()
        .askingStore(
            () -> {
              checkpoints().save(name, checked, replicated);
              return null;
            });
  }

  boolean restore(String name, List<Tensor> tensors) {
    List<HostTensor> checked = checked("restore", name, tensors);
    return group.monitor().askingStore(() -> checkpoints().restore(name, checked));
  }

  private Checkpoints checkpoints() {
    return new Checkpoints(view, group.stores()::checkpoints);
  }

  private List<HostTensor> checked(String operation, String name, List<Tensor> tensors) {
    group.requireOpen();
    arguments.name(operation, name);
    arguments.given(operation, "list of tensors", tensors);
    return tensors.stream().map(each -> arguments.hostTensor(operation, "tensor", each)).toList();
  }
}
