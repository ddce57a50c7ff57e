package org.sparkcollectives.faults;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.IOException;
import java.io.InterruptedIOException;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Hosts with networks of their own, made of Linux network namespaces. Each has an address on a
 * bridge, and so has this process. A host that is cut off drops packets; its connections are not
 * reset.
 *
 * <p>The bridge is in a namespace of its own, where this machine's firewall rules do not filter
 * what passes. The names contain the process that made them, so that the next run removes what a
 * killed one has left behind.
 */
final class Namespaces implements AutoCloseable {

  /** The prefix of all names; the id of the process follows. */
  private static final String PREFIX = "faults";

  private static final Pattern NAME =
      Pattern.compile("\\b" + PREFIX + "([0-9a-z]+)-\\d+[a-z]*\\d*");
  private static final int BASE = Character.MAX_RADIX;

  /** The number of /24 networks in the two /16 networks that are reserved for network tests. */
  private static final int NETWORKS = 512;

  private static final int FIRST_HOST = 10;

  /**
   * The time for a connection attempt, so that a firewall that drops packets from the bridge is
   * noticed.
   */
  private static final String CONNECT_SECONDS = "10";

  private static final AtomicInteger INSTANCES = new AtomicInteger();

  private final String name;
  private final String hub;
  private final String network;
  private final List<String> hosts = new ArrayList<>();

  /** Creates {@code count} hosts. */
  Namespaces(int count) throws IOException {
    removeThoseOfEndedProcesses();
    name = nameOf(ProcessHandle.current().pid(), INSTANCES.incrementAndGet());
    hub = name + "hub";
    network = freeNetwork();
    for (int i = 0; i < count; i++) {
      hosts.add(name + "h" + i);
    }
    try {
      make();
    } catch (IOException e) {
      close();
      throw e;
    }
  }

  /** Returns the prefix of the names that a process gives to its n-th instance. */
  static String nameOf(long process, int instance) {
    return PREFIX + Long.toString(process, BASE) + "-" + instance;
  }

  /**
   * Returns why there can be no namespaces here, or an empty string if there can be and they reach
   * this process.
   */
  static String obstacle() {
    if (!System.getProperty("os.name").equals("Linux")) {
      return "only Linux has them";
    }
    try (Namespaces probe = new Namespaces(1);
        ServerSocket listener = new ServerSocket()) {
      listener.bind(new InetSocketAddress(probe.outside(), 0));
      String connect = "exec 3<>/dev/tcp/" + probe.outside() + "/" + listener.getLocalPort();
      List<String> command = new ArrayList<>(probe.command(0));
      command.addAll(List.of("timeout", CONNECT_SECONDS, "bash", "-c", connect));
      run(command, "");
      return "";
    } catch (IOException e) {
      return String.valueOf(e.getMessage());
    }
  }

  private void make() throws IOException {
    List<String> names = new ArrayList<>();
    List<String> ports = new ArrayList<>();
    names.add("netns add " + hub);
    ports.add("link add name bridge type bridge");
    ports.add("link set bridge up");
    for (int i = 0; i < hosts.size(); i++) {
      names.add("netns add " + hosts.get(i));
      ports.add("link add name " + port(i) + " type veth peer name eth0 netns " + hosts.get(i));
      ports.add("link set " + port(i) + " master bridge up");
    }
    names.add("link add name " + name + " type veth peer name outside netns " + hub);
    names.add("addr add " + outside() + "/24 dev " + name);
    names.add("link set " + name + " up");
    ports.add("link set outside master bridge up");
    all(List.of("ip"), names);
    all(List.of("ip", "-n", hub), ports);
    for (int i = 0; i < hosts.size(); i++) {
      all(
          List.of("ip", "-n", hosts.get(i)),
          List.of("link set lo up", "addr add " + address(i) + "/24 dev eth0", "link set eth0 up"));
    }
  }

  /** Returns the name of the end of a host's cable that is at the bridge. */
  private static String port(int host) {
    return "port" + host;
  }

  /** Returns the words to put before a command so that it runs on a host. */
  List<String> command(int host) {
    return List.of("ip", "netns", "exec", hosts.get(host));
  }

  /** Returns the name of a host's network. */
  String name(int host) {
    return hosts.get(host);
  }

  /** Returns the address of a host. */
  String address(int host) {
    return network + (FIRST_HOST + host);
  }

  /** Returns the address of this process. */
  String outside() {
    return network + 1;
  }

  /** Begins to drop all packets that a host sends or is sent. */
  void cut(int host) throws IOException {
    all(List.of("ip", "-n", hub), List.of("link set " + port(host) + " down"));
  }

  /** Cuts hosts off within about a millisecond, by a shell that already runs. */
  final class Switch implements AutoCloseable {

    private final Process process;

    private Switch() throws IOException {
      process =
          new ProcessBuilder("ip", "-n", hub, "-batch", "-")
              .redirectErrorStream(true)
              .redirectOutput(ProcessBuilder.Redirect.INHERIT)
              .start();
    }

    /** Cuts a host off as {@link Namespaces#cut} does, without waiting until it is done. */
    void cut(int host) throws IOException {
      process.getOutputStream().write(("link set " + port(host) + " down\n").getBytes(UTF_8));
      process.getOutputStream().flush();
    }

    @Override
    public void close() {
      process.destroyForcibly();
    }
  }

  /** Starts the shell that cuts hosts off at once. */
  Switch openSwitch() throws IOException {
    return new Switch();
  }

  /** Begins to drop all packets that two hosts send to each other, and no others. */
  void cutBetween(int one, int other) throws IOException {
    all(List.of("ip", "-n", hosts.get(one)), List.of("route add blackhole " + address(other)));
    all(List.of("ip", "-n", hosts.get(other)), List.of("route add blackhole " + address(one)));
  }

  /** Heals all links. */
  void heal() throws IOException {
    List<String> ports = new ArrayList<>();
    for (int i = 0; i < hosts.size(); i++) {
      ports.add("link set " + port(i) + " up");
      all(List.of("ip", "-n", hosts.get(i)), List.of("route flush type blackhole"));
    }
    all(List.of("ip", "-n", hub), ports);
  }

  private static String freeNetwork() throws IOException {
    String taken = run(List.of("ip", "-4", "-o", "addr", "show"), "");
    Random random = new Random();
    while (true) {
      int number = random.nextInt(NETWORKS);
      String network = "198." + (18 + number / 256) + "." + number % 256 + ".";
      if (!taken.contains(" " + network)) {
        return network;
      }
    }
  }

  private static void removeThoseOfEndedProcesses() throws IOException {
    String named =
        run(List.of("ip", "netns", "list"), "") + run(List.of("ip", "-o", "link", "show"), "");
    Matcher names = NAME.matcher(named);
    while (names.find()) {
      if (ProcessHandle.of(Long.parseLong(names.group(1), BASE)).isEmpty()) {
        remove(names.group());
      }
    }
  }

  /** Removes a namespace, or the cable into one, if it still exists. */
  private static void remove(String name) {
    for (String command : List.of("netns delete ", "link delete ")) {
      try {
        run(List.of("ip", "-batch", "-"), command + name + "\n");
      } catch (IOException gone) {
        // It is gone already: with its other end, or because another process cleaned up.
      }
    }
  }

  /** Runs the lines as input of a command, up to the first line that fails. */
  private static void all(List<String> command, List<String> lines) throws IOException {
    List<String> batch = new ArrayList<>(command);
    batch.addAll(List.of("-batch", "-"));
    run(batch, String.join("\n", lines) + "\n");
  }

  /**
   * Returns what a command prints for the given input. An interrupt of this thread does not end the
   * command.
   */
  private static String run(List<String> command, String input) throws IOException {
    Path said = Files.createTempFile("namespaces-", ".log");
    try {
      Process process =
          new ProcessBuilder(command)
              .redirectErrorStream(true)
              .redirectOutput(said.toFile())
              .start();
      try (var in = process.getOutputStream()) {
        in.write(input.getBytes(UTF_8));
      } catch (IOException ended) {
        // The command ended before it read all its input; its exit status says why.
      }
      int exit = process.waitFor();
      String text = Files.readString(said);
      if (exit != 0) {
        throw new IOException(
            String.join(" ", command)
                + (input.isEmpty() ? "" : " with \"" + input.strip().replace("\n", "; ") + "\"")
                + " has failed with "
                + exit
                + ": "
                + text.strip());
      }
      return text;
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      throw new InterruptedIOException("interrupted while it waited for " + command);
    } finally {
      Files.deleteIfExists(said);
    }
  }

  /**
   * Removes all namespaces and the bridge. Processes that still run on a host lose their network.
   */
  @Override
  public void close() {
    remove(name);
    remove(hub);
    for (String host : hosts) {
      remove(host);
    }
  }
}
