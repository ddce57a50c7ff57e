import io.fabric8.kubernetes.api.model.Container;
import io.fabric8.kubernetes.api.model.ObjectMeta;
import io.fabric8.kubernetes.api.model.Pod;

/** A pod that has a node. Its process is that of the namespaces, whose child is the pod's first. */
final class RunningPod {

  final String name;
  final String kubernetesNamespace;
  final String node;
  final String address;
  final String networkNamespace;
  final Container container;
  private volatile Process process;
  private boolean stopping;

  RunningPod(Pod pod, String node, String address, String networkNamespace) {
    ObjectMeta metadata = pod.getMetadata();
    this.name = metadata.getName();
    this.kubernetesNamespace = metadata.getNamespace();
    this.node = node;
    this.address = address;
    this.networkNamespace = networkNamespace;
    this.container = pod.getSpec().getContainers().get(0);
  }

  void runs(Process begun) {
    process = begun;
  }

  boolean hasBegun() {
    return process != null;
  }

  boolean isAlive() {
    return process != null && process.isAlive();
  }

  /** Returns whether it takes room: from when it has a node until it has ended. */
  boolean takesRoom() {
    return process == null || process.isAlive();
  }

  Process process() {
    return process;
  }

  /** Returns process 1 of the pod, as this process sees it. */
  ProcessHandle first() {
    return process.children().findFirst().orElseThrow();
  }

  /** Returns true to the first caller. */
  synchronized boolean beginsToStop() {
    boolean first = !stopping;
    stopping = true;
    return first;
  }

  synchronized boolean isStopping() {
    return stopping;
  }
}
