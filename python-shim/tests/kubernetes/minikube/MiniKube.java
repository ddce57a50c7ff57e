import io.fabric8.kubernetes.api.model.ConfigMap;
import io.fabric8.kubernetes.api.model.ConfigMapBuilder;
import io.fabric8.kubernetes.client.Config;
import io.fabric8.kubernetes.client.ConfigBuilder;
import io.fabric8.kubernetes.client.KubernetesClient;
import io.fabric8.kubernetes.client.KubernetesClientBuilder;
import io.fabric8.kubernetes.client.dsl.PodResource;
import io.fabric8.kubernetes.client.server.mock.KubernetesMockServer;
import io.fabric8.kubernetes.client.utils.Serialization;
import io.fabric8.mockwebserver.Context;
import io.fabric8.mockwebserver.MockWebServer;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.InetAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.logging.Level;
import java.util.logging.Logger;

/**
 * A small Kubernetes in one process: an API server without admission, a scheduler that counts pods,
 * a kubelet whose pods are Linux namespaces, and network policies. It runs as root in network,
 * mount and PID namespaces of its own, in which {@code cluster.sh} prepares the image, and all pods
 * end with it.
 *
 * <p>Arguments: the folder for what it writes, the folder with the layer of the image, the prefix
 * of the pods' addresses, and the number of pods for which each node has room, such as "2,1". It
 * obeys lines of the standard input, answers each with a line of the log that begins with "done" or
 * "refused" and the number of the line, and ends with the input.
 */
public final class MiniKube {

  private static final int PORT = 6443;

  private final KubernetesClient client;
  private final Kubelet kubelet;

  private MiniKube(KubernetesClient client, Kubelet kubelet) {
    this.client = client;
    this.kubelet = kubelet;
  }

  public static void main(String[] arguments) throws Exception {
    Logger.getLogger("io.fabric8.mockwebserver").setLevel(Level.WARNING);
    PodNetwork network = new PodNetwork(arguments[2]);
    network.create();
    // The mock cannot listen on an address of IPv6.
    String address = network.isIpv6() ? "127.0.0.1" : network.host();
    KubernetesClient client = serve(address);
    Kubelet kubelet = new Kubelet(Path.of(arguments[0]), Path.of(arguments[1]), network, client);
    for (String room : arguments[3].split(",")) {
      kubelet.addNode(Integer.parseInt(room));
    }
    loadClasses(client);
    kubelet.start();
    System.out.println("ready");
    new MiniKube(client, kubelet).obey();
    // The threads of the mock server would keep the process.
    System.exit(0);
  }

  private static KubernetesClient serve(String address) throws IOException {
    KubernetesMockServer server =
        new KubernetesMockServer(
            new Context(Serialization.jsonMapper()),
            new MockWebServer(),
            new HashMap<>(),
            new ApiServer(),
            false);
    server.start(InetAddress.getByName(address), PORT);
    Config config =
        new ConfigBuilder(Config.empty()).withMasterUrl("http://" + address + ":" + PORT).build();
    return new KubernetesClientBuilder().withConfig(config).build();
  }

  /** On a busy machine the first requests take longer than Spark waits. */
  private static void loadClasses(KubernetesClient client) {
    ConfigMap any =
        new ConfigMapBuilder()
            .withNewMetadata()
            .withName("any")
            .withNamespace("default")
            .endMetadata()
            .build();
    client.resource(any).create();
    client.resource(any).delete();
  }

  private void obey() throws IOException {
    BufferedReader input =
        new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
    int number = 0;
    for (String line = input.readLine(); line != null; line = input.readLine()) {
      number++;
      try {
        obey(line.split(" "));
        System.out.println("done " + number);
      } catch (IOException | RuntimeException e) {
        System.out.println("refused " + number + " " + e.getMessage());
      }
    }
  }

  private void obey(String[] words) throws IOException {
    switch (words[0]) {
      case "node" -> kubelet.addNode(Integer.parseInt(words[1]));
      case "create" -> Manifests.create(Path.of(words[1]), client);
      case "delete-policy" ->
          client.network().v1().networkPolicies().inNamespace(words[1]).withName(words[2]).delete();
      case "delete-pod" -> {
        PodResource pod = client.pods().inNamespace(words[1]).withName(words[2]);
        if (words.length > 3) {
          pod.withGracePeriod(Long.parseLong(words[3])).delete();
        } else {
          pod.delete();
        }
      }
      default -> throw new IllegalArgumentException("unknown " + words[0]);
    }
  }
}
