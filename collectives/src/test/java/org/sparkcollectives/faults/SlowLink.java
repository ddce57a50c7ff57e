package org.sparkcollectives.faults;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.net.URISyntaxException;
import java.net.URL;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.TimeUnit;

/**
 * Two hosts with a link between them that has a delay, a bandwidth and losses. A Python program
 * carries the packets, see {@code slow_link.py}.
 */
final class SlowLink implements AutoCloseable {

  /** A network for tests, as those of {@link Namespaces}, but only these two hosts know it. */
  private static final String NETWORK = "203.0.113.";

  private final Namespaces hosts = new Namespaces(2);
  private final List<Path> bootIds = new ArrayList<>();
  private final Process program;
  private final PrintStream commands;
  private final BufferedReader answers;

  /**
   * Makes the hosts and the link.
   *
   * @param folder for the files with the boot ids
   */
  SlowLink(Path folder) throws IOException {
    List<String> command = new ArrayList<>(List.of("python3", script()));
    for (int host = 0; host < 2; host++) {
      bootIds.add(Files.writeString(folder.resolve("boot_id-" + host), UUID.randomUUID() + "\n"));
      command.addAll(List.of(hosts.name(host), address(host)));
    }
    program = new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.INHERIT).start();
    commands = new PrintStream(program.getOutputStream(), true, UTF_8);
    answers = new BufferedReader(new InputStreamReader(program.getInputStream(), UTF_8));
    try {
      expect("ready");
    } catch (IOException e) {
      close();
      throw e;
    }
  }

  /** Returns why there can be no such link here, or an empty string if there can be. */
  static String obstacle() throws InterruptedException {
    if (!Files.exists(Path.of("/dev/net/tun"))) {
      return "there is no /dev/net/tun";
    }
    try {
      Process python = new ProcessBuilder("python3", "-c", "").start();
      return python.waitFor(30, TimeUnit.SECONDS) && python.exitValue() == 0
          ? ""
          : "python3 does not run";
    } catch (IOException e) {
      return String.valueOf(e.getMessage());
    }
  }

  private static String script() {
    URL script = SlowLink.class.getResource("slow_link.py");
    try {
      return Path.of(script.toURI()).toString();
    } catch (URISyntaxException e) {
      throw new IllegalStateException(e);
    }
  }

  /** Returns the address of a host at this link. */
  String address(int host) {
    return NETWORK + (1 + host);
  }

  /** Returns the words to put before a command so that it runs on a host. */
  List<String> command(int host) {
    List<String> command = new ArrayList<>(hosts.command(host));
    command.addAll(Containers.machine(bootIds.get(host)));
    return command;
  }

  /** Gives both directions of the link a delay, a bandwidth, and a share of lost packets. */
  void set(double delayMillis, double megabits, double loss) throws IOException {
    commands.println("line " + delayMillis + " " + megabits + " " + loss);
    expect("done");
  }

  /** Begins to drop all packets. */
  void cut() throws IOException {
    commands.println("cut");
    expect("done");
  }

  private void expect(String answer) throws IOException {
    String line = answers.readLine();
    if (!answer.equals(line)) {
      throw new IOException("slow_link.py answers " + line + ", not " + answer);
    }
  }

  @Override
  public void close() {
    program.destroyForcibly();
    hosts.close();
  }
}
