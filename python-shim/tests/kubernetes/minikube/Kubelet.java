import io.fabric8.kubernetes.api.model.Container;
import io.fabric8.kubernetes.api.model.ContainerState;
import io.fabric8.kubernetes.api.model.ContainerStateBuilder;
import io.fabric8.kubernetes.api.model.ContainerStatusBuilder;
import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.PodBuilder;
import io.fabric8.kubernetes.api.model.PodConditionBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientException;
import io.fabric8.kubernetes.client.Watcher;
import io.fabric8.kubernetes.client.dsl.PodResource;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Gives pods to nodes, and runs each in Linux namespaces of its own. What a pod writes is in {@code
 * pods/NAME/log} of the folder.
 */
final class Kubelet {

  private static final String ENTRY_POINT = "/opt/entrypoint.sh";
  private static final int CANNOT_START = 128;

  private final Path folder;
  private final Path image;
  private final PodNetwork network;
  private final KubernetesClient client;
  private final PodFiles files;
  private final Nodes nodes;
  private final PolicyEnforcement policies;
  private final Map<String, RunningPod> pods = new ConcurrentHashMap<>();
  private final AtomicInteger lastAddress = new AtomicInteger(1);
  private final ExecutorService threads = Executors.newCachedThreadPool();

  Kubelet(Path folder, Path image, PodNetwork network, KubernetesClient client) {
    this.folder = folder;
    this.image = image;
    this.network = network;
    this.client = client;
    this.files = new PodFiles(client);
    this.nodes = new Nodes(folder);
    this.policies = new PolicyEnforcement(folder, network, client, pods);
  }

  /** Begins to watch for pods and policies. */
  void start() {
    client.pods().inAnyNamespace().watch(Events.watcher(this::changed));
    client
        .network()
        .v1()
        .networkPolicies()
        .inAnyNamespace()
        .watch(Events.watcher((action, policy) -> threads.execute(policies::enforce)));
  }

  void addNode(int room) throws IOException {
    nodes.add(room);
    threads.execute(this::schedule);
  }

  private void changed(Watcher.Action action, Pod pod) {
    String name = pod.getMetadata().getName();
    switch (action) {
      case ADDED -> {
        Events.say("created " + name + " " + pod.getMetadata().getLabels());
        threads.execute(this::schedule);
      }
      case MODIFIED -> {
        if (pod.getMetadata().getDeletionTimestamp() != null) {
          threads.execute(() -> stop(pod));
        }
      }
      case DELETED -> {
        Events.say("deleted " + name);
        threads.execute(() -> forget(pod));
      }
      default -> Events.say(action + " " + name);
    }
  }

  private void forget(Pod pod) {
    RunningPod running = pods.get(pod.getMetadata().getName());
    if (running != null && running.hasBegun()) {
      running.process().destroyForcibly();
    }
    GarbageCollection.collect(client, pod.getMetadata().getUid());
  }

  private synchronized void schedule() {
    for (Pod pod : client.pods().inAnyNamespace().list().getItems()) {
      String name = pod.getMetadata().getName();
      boolean waits =
          "Pending".equals(pod.getStatus().getPhase())
              && pod.getMetadata().getDeletionTimestamp() == null
              && !pods.containsKey(name);
      if (waits) {
        nodes
            .withRoom(pods.values())
            .ifPresentOrElse(node -> place(pod, node), () -> Events.say("no room for " + name));
      }
    }
  }

  private void place(Pod pod, String node) {
    int number = lastAddress.incrementAndGet();
    RunningPod running = new RunningPod(pod, node, network.address(number), "pod" + number);
    pods.put(running.name, running);
    threads.execute(() -> live(pod, running));
  }

  private void live(Pod pod, RunningPod running) {
    String name = running.name;
    try {
      int code = begin(pod, running).waitFor();
      Events.say("ended " + name + " with " + code);
      report(running, code == 0 ? "Succeeded" : "Failed", ended(code));
      if (running.isStopping()) {
        resource(running).withGracePeriod(0).delete();
      }
    } catch (IOException | InterruptedException | RuntimeException e) {
      Events.say("failed " + name + ": " + e);
      Events.say("ended " + name + " with " + CANNOT_START);
      report(running, "Failed", ended(CANNOT_START));
    }
    try {
      network.leave(running.networkNamespace);
    } catch (IOException | InterruptedException e) {
      Events.say(e.toString());
    }
    schedule();
  }

  private Process begin(Pod pod, RunningPod running) throws IOException, InterruptedException {
    resource(running)
        .edit(each -> new PodBuilder(each).editSpec().withNodeName(running.node).endSpec().build());
    network.join(running.networkNamespace, running.address);
    Path place = Files.createDirectories(place(running));
    Files.write(place.resolve("mounts"), files.mounts(pod, running, place));
    Files.write(place.resolve("hosts"), files.hosts(running, pods));
    ProcessBuilder builder =
        new ProcessBuilder(command(running))
            .redirectErrorStream(true)
            .redirectOutput(place.resolve("log").toFile());
    builder.environment().clear();
    builder.environment().putAll(files.environment(running));
    Events.say("start " + running.name + " on " + running.node + " with " + running.address);
    running.runs(builder.start());
    report(running, "Running", running());
    policies.enforce();
    return running.process();
  }

  private Path place(RunningPod pod) {
    return folder.resolve("pods").resolve(pod.name);
  }

  private List<String> command(RunningPod pod) {
    List<String> result = new ArrayList<>(List.of("ip", "netns", "exec", pod.networkNamespace));
    result.addAll(List.of("unshare", "--pid", "--fork", "--kill-child", "--mount-proc"));
    result.addAll(List.of("--ipc", "--uts", "--mount"));
    result.addAll(List.of("sh", System.getProperty("pod.script")));
    result.addAll(List.of(place(pod).toString(), image.toString(), pod.name));
    result.add(nodes.bootId(pod.node).toString());
    List<String> own = pod.container.getCommand();
    result.addAll(own.isEmpty() ? List.of(ENTRY_POINT) : own);
    result.addAll(pod.container.getArgs());
    return result;
  }

  private static ContainerState running() {
    return new ContainerStateBuilder()
        .withNewRunning()
        .withStartedAt(Instant.now().toString())
        .endRunning()
        .build();
  }

  private static ContainerState ended(int code) {
    return new ContainerStateBuilder()
        .withNewTerminated()
        .withExitCode(code)
        .withReason(code == 0 ? "Completed" : "Error")
        .withFinishedAt(Instant.now().toString())
        .endTerminated()
        .build();
  }

  private void report(RunningPod running, String phase, ContainerState state) {
    boolean ready = state.getRunning() != null;
    Container container = running.container;
    ContainerStatusBuilder status =
        new ContainerStatusBuilder()
            .withName(container.getName())
            .withImage(container.getImage())
            .withReady(ready)
            .withState(state);
    // Spark waits for the condition.
    PodConditionBuilder condition =
        new PodConditionBuilder().withType("Ready").withStatus(ready ? "True" : "False");
    try {
      resource(running)
          .editStatus(
              pod ->
                  new PodBuilder(pod)
                      .editOrNewStatus()
                      .withPhase(phase)
                      .withPodIP(running.address)
                      .withHostIP(network.host())
                      .withStartTime(Instant.now().truncatedTo(ChronoUnit.SECONDS).toString())
                      .withContainerStatuses(status.build())
                      .withConditions(condition.build())
                      .endStatus()
                      .build());
    } catch (KubernetesClientException e) {
      Events.say("no status for " + running.name + ": " + e.getMessage()); // It was deleted.
    }
  }

  private PodResource resource(RunningPod pod) {
    return client.pods().inNamespace(pod.kubernetesNamespace).withName(pod.name);
  }

  /** Ends a pod as a kubelet does: its hook, SIGTERM, and after the grace period SIGKILL. */
  private void stop(Pod pod) {
    RunningPod running = pods.get(pod.getMetadata().getName());
    if (running == null || !running.isAlive()) {
      client
          .pods()
          .inNamespace(pod.getMetadata().getNamespace())
          .withName(pod.getMetadata().getName())
          .withGracePeriod(0)
          .delete();
      return;
    }
    if (!running.beginsToStop()) {
      return;
    }
    long grace = pod.getMetadata().getDeletionGracePeriodSeconds();
    long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(grace);
    try {
      runHook(running, grace);
      running.first().destroy();
      long left = Math.max(0, end - System.nanoTime());
      if (!running.process().waitFor(left, TimeUnit.NANOSECONDS)) {
        Events.say("grace period of " + running.name + " is over");
        running.process().destroyForcibly();
      }
    } catch (IOException | InterruptedException e) {
      Events.say(e.toString());
    }
  }

  private void runHook(RunningPod pod, long seconds) throws IOException, InterruptedException {
    if (pod.container.getLifecycle() == null || pod.container.getLifecycle().getPreStop() == null) {
      return;
    }
    String first = String.valueOf(pod.first().pid());
    List<String> command = new ArrayList<>(List.of("nsenter", "--target", first));
    command.addAll(List.of("--all", "--root", "--wd"));
    command.addAll(pod.container.getLifecycle().getPreStop().getExec().getCommand());
    Events.say("hook of " + pod.name);
    new ProcessBuilder(command)
        .redirectErrorStream(true)
        .redirectOutput(place(pod).resolve("hook").toFile())
        .start()
        .waitFor(seconds, TimeUnit.SECONDS);
  }
}
