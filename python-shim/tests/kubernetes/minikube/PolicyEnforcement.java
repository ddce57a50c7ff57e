import io.fabric8.kubernetes.api.model.Pod;
import io.fabric8.kubernetes.api.model.networking.v1.NetworkPolicy;
import io.fabric8.kubernetes.api.model.networking.v1.NetworkPolicyIngressRule;
import io.fabric8.kubernetes.api.model.networking.v1.NetworkPolicyPeer;
import io.fabric8.kubernetes.client.KubernetesClient;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/**
 * Carries out the network policies by nftables, in the network namespace of each pod: connections
 * to a pod from pods with labels, or from addresses, to TCP ports. Of connections from a pod
 * (egress) it knows nothing.
 */
final class PolicyEnforcement {

  private static final String TABLE =
      """
      table inet kube
      delete table inet kube
      table inet kube {
        chain inbound {
          type filter hook input priority 0; policy drop;
          iif lo accept
          ct state established,related accept
          meta l4proto ipv6-icmp accept
          %s
          counter
        }
      }
      """;

  private final Path folder;
  private final PodNetwork network;
  private final KubernetesClient client;
  private final Map<String, RunningPod> pods;

  PolicyEnforcement(
      Path folder, PodNetwork network, KubernetesClient client, Map<String, RunningPod> pods) {
    this.folder = folder;
    this.network = network;
    this.client = client;
    this.pods = pods;
  }

  synchronized void enforce() {
    List<NetworkPolicy> policies =
        client.network().v1().networkPolicies().inAnyNamespace().list().getItems();
    List<Pod> all = client.pods().inAnyNamespace().list().getItems();
    for (Pod pod : all) {
      RunningPod running = pods.get(pod.getMetadata().getName());
      if (running == null || !running.isAlive()) {
        continue;
      }
      List<NetworkPolicy> own = policies.stream().filter(each -> selects(each, pod)).toList();
      if (!own.isEmpty()) {
        filter(running, rules(own, all));
      }
    }
  }

  private static boolean selects(NetworkPolicy policy, Pod pod) {
    String namespace = policy.getMetadata().getNamespace();
    return pod.getMetadata().getNamespace().equals(namespace)
        && Labels.select(policy.getSpec().getPodSelector().getMatchLabels(), pod);
  }

  private Set<String> rules(List<NetworkPolicy> policies, List<Pod> all) {
    Set<String> result = new LinkedHashSet<>();
    for (NetworkPolicy policy : policies) {
      List<Pod> peers =
          all.stream()
              .filter(
                  each ->
                      each.getMetadata().getNamespace().equals(policy.getMetadata().getNamespace()))
              .toList();
      for (NetworkPolicyIngressRule rule : policy.getSpec().getIngress()) {
        result.addAll(rules(rule, peers));
      }
    }
    return result;
  }

  /** Returns a line of nftables for each peer that there is. */
  private List<String> rules(NetworkPolicyIngressRule rule, List<Pod> pods) {
    String ports =
        rule.getPorts().stream()
            .map(port -> port.getPort().getValue().toString())
            .collect(Collectors.joining(", "));
    String toPorts = (ports.isEmpty() ? "" : "tcp dport { " + ports + " } ") + "accept";
    if (rule.getFrom().isEmpty()) {
      return List.of(toPorts);
    }
    String protocol = network.isIpv6() ? "ip6" : "ip";
    return rule.getFrom().stream()
        .flatMap(peer -> addresses(peer, pods))
        .map(address -> protocol + " saddr " + address + " " + toPorts)
        .toList();
  }

  private Stream<String> addresses(NetworkPolicyPeer peer, List<Pod> all) {
    if (peer.getIpBlock() != null) {
      return Stream.of(peer.getIpBlock().getCidr());
    }
    return all.stream()
        .filter(each -> Labels.select(peer.getPodSelector().getMatchLabels(), each))
        .map(each -> pods.get(each.getMetadata().getName()))
        .filter(Objects::nonNull)
        .map(each -> each.address);
  }

  private void filter(RunningPod pod, Set<String> rules) {
    Path file = folder.resolve("pods").resolve(pod.name).resolve("policy");
    try {
      Files.writeString(file, TABLE.formatted(String.join("\n    ", rules)));
      Command.run("ip", "netns", "exec", pod.networkNamespace, "nft", "-f", file.toString());
      Events.say("policy for " + pod.name);
    } catch (IOException | InterruptedException e) {
      Events.say("no policy for " + pod.name + ": " + e.getMessage());
    }
  }
}
