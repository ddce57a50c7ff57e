import java.io.IOException;
import java.util.ArrayList;
import java.util.List;

/** A bridge with a network namespace for each pod. The pods have addresses of one prefix. */
final class PodNetwork {

  private static final String BRIDGE = "kube0";

  private final String prefix;

  /**
   * @param prefix of all addresses, such as "10.244.0." or "fd00:244::"
   */
  PodNetwork(String prefix) {
    this.prefix = prefix;
  }

  boolean isIpv6() {
    return prefix.contains(":");
  }

  /** Returns the address of the machine on which the pods run. */
  String host() {
    return address(1);
  }

  String address(int number) {
    return prefix + number;
  }

  void create() throws IOException, InterruptedException {
    Command.run("ip", "link", "set", "lo", "up");
    Command.run("ip", "link", "add", BRIDGE, "type", "bridge");
    giveAddress(host(), BRIDGE, List.of());
    Command.run("ip", "link", "set", BRIDGE, "up");
  }

  /** Makes the namespace of a pod, with a link to the bridge. */
  void join(String namespace, String address) throws IOException, InterruptedException {
    String outside = "v" + namespace;
    Command.run("ip", "netns", "add", namespace);
    Command.run(
        List.of(
            ("ip link add " + outside + " type veth peer name eth0 netns " + namespace)
                .split(" ")));
    Command.run("ip", "link", "set", outside, "master", BRIDGE, "up");
    Command.run("ip", "-n", namespace, "link", "set", "lo", "up");
    giveAddress(address, "eth0", List.of("-n", namespace));
    Command.run("ip", "-n", namespace, "link", "set", "eth0", "up");
  }

  void leave(String namespace) throws IOException, InterruptedException {
    Command.run("ip", "netns", "delete", namespace);
  }

  private void giveAddress(String address, String device, List<String> where)
      throws IOException, InterruptedException {
    List<String> command = new ArrayList<>(List.of("ip"));
    command.addAll(where);
    command.addAll(List.of("addr", "add", address + (isIpv6() ? "/64" : "/24"), "dev", device));
    if (isIpv6()) {
      command.add("nodad"); // Else it cannot be bound in the first second.
    }
    Command.run(command);
  }
}
