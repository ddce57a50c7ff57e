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
 * Hosts with a network of their own: namespaces of Linux, each with an address, on a bridge that
 * this process has an address on, too. What a host is cut off from drops its packets; no connection
 * breaks by that.
 *
 * <p>The bridge is in a namespace of its own, where no rule of this machine's firewall filters what
 * passes. The names tell which process has made them: what one that was killed has left behind, the
 * next removes.
 */
final class Namespaces implements AutoCloseable {

  /** What the names of all begin with, with the id of the process. */
  private static final String PREFIX = "faults";

  private static final Pattern NAME =
      Pattern.compile("\\b" + PREFIX + "([0-9a-z]+)-\\d+[a-z]*\\d*");
  private static final int BASE = Character.MAX_RADIX;

  /** The two networks of 16 bits that are set aside for tests of networks, in networks of 8. */
  private static final int NETWORKS = 512;

  private static final int FIRST_HOST = 10;

  /** For a firewall that drops what comes from the bridge to show. */
  private static final String CONNECT_SECONDS = "10";

  private static final AtomicInteger INSTANCES = new AtomicInteger();

  private final String name;
  private final String hub;
  private final String network;
  private final List<String> hosts = new ArrayList<>();

  /** So many hosts. */
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

  /** What the names of those begin with that a process makes at the n-th time. */
  static String nameOf(long process, int instance) {
    return PREFIX + Long.toString(process, BASE) + "-" + instance;
  }

  /** Why there can be none here; empty if there can, and they reach this process. */
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

  /** The end of a host's cable that is at the bridge. */
  private static String port(int host) {
    return "port" + host;
  }

  /** What is written before a command for it to run on a host. */
  List<String> command(int host) {
    return List.of("ip", "netns", "exec", hosts.get(host));
  }

  /** The address of a host. */
  String address(int host) {
    return network + (FIRST_HOST + host);
  }

  /** The address of this process. */
  String outside() {
    return network + 1;
  }

  /** From now on drops what a host sends, and what is sent to it. */
  void cut(int host) throws IOException {
    all(List.of("ip", "-n", hub), List.of("link set " + port(host) + " down"));
  }

  /** Cuts hosts off within a millisecond or so: its process is there already. */
  final class Switch implements AutoCloseable {

    private final Process process;

    private Switch() throws IOException {
      process =
          new ProcessBuilder("ip", "-n", hub, "-batch", "-")
              .redirectErrorStream(true)
              .redirectOutput(ProcessBuilder.Redirect.INHERIT)
              .start();
    }

    /** As {@link Namespaces#cut}, but does not wait until it is done. */
    void cut(int host) throws IOException {
      process.getOutputStream().write(("link set " + port(host) + " down\n").getBytes(UTF_8));
      process.getOutputStream().flush();
    }

    @Override
    public void close() {
      process.destroyForcibly();
    }
  }

  /** What cuts hosts off at once. */
  Switch openSwitch() throws IOException {
    return new Switch();
  }

  /** From now on drops what two hosts send to each other, and nothing else. */
  void cutBetween(int one, int other) throws IOException {
    all(List.of("ip", "-n", hosts.get(one)), List.of("route add blackhole " + address(other)));
    all(List.of("ip", "-n", hosts.get(other)), List.of("route add blackhole " + address(one)));
  }

  /** Everybody reaches everybody again. */
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

  /** Of a namespace, or of a cable into one, whatever is still there. */
  private static void remove(String name) {
    for (String command : List.of("netns delete ", "link delete ")) {
      try {
        run(List.of("ip", "-batch", "-"), command + name + "\n");
      } catch (IOException gone) {
        // With the other end, or by another process that cleans up.
      }
    }
  }

  /** Has a command do what the lines say, up to the first that fails. */
  private static void all(List<String> command, List<String> lines) throws IOException {
    List<String> batch = new ArrayList<>(command);
    batch.addAll(List.of("-batch", "-"));
    run(batch, String.join("\n", lines) + "\n");
  }

  /**
   * What a command prints, given its input. It goes on where this thread is interrupted meanwhile.
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
        // Before it has read all: its exit tells.
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

  /** Removes all of it. Processes that are still on a host have no network any more. */
  @Override
  public void close() {
    remove(name);
    remove(hub);
    for (String host : hosts) {
      remove(host);
    }
  }
}
