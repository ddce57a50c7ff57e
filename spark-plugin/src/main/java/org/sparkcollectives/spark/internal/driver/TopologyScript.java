package org.sparkcollectives.spark.internal.driver;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.sparkcollectives.spark.config.SparkPluginConfiguration;
import org.sparkcollectives.spark.internal.driver.HostRacks.TopologyException;

/**
 * A script that tells the racks of hosts, as Hadoop's {@code net.topology.script.file.name}: its
 * arguments are hosts, and it prints a path such as {@code /dc1/rack7} for each.
 *
 * @param path of the script
 * @param atMost how long it may run
 */
record TopologyScript(String path, Duration atMost) implements HostRacks.Topology {

  /** The most that is read of what it prints. */
  private static final int MOST_BYTES = 1 << 20;

  @Override
  public List<String> racks(List<String> hosts) throws TopologyException, InterruptedException {
    Path out = null;
    Path err = null;
    try {
      // A pipe would end only when the last process has closed it that the script has started.
      out = Files.createTempFile("collectives-topology", ".out");
      err = Files.createTempFile("collectives-topology", ".err");
      List<String> command = new ArrayList<>(List.of(path));
      command.addAll(hosts);
      Process process =
          new ProcessBuilder(command)
              .redirectOutput(out.toFile())
              .redirectError(err.toFile())
              .start();
      process.getOutputStream().close();
      int status = await(process, hosts);
      if (status != 0) {
        throw failed(hosts, "ended with status " + status + errors(err));
      }
      return parse(hosts, read(out));
    } catch (IOException e) {
      throw failed(hosts, "cannot be run: " + e.getMessage());
    } finally {
      delete(out);
      delete(err);
    }
  }

  private int await(Process process, List<String> hosts)
      throws TopologyException, InterruptedException {
    boolean ended = false;
    try {
      ended = process.waitFor(atMost.toNanos(), TimeUnit.NANOSECONDS);
    } finally {
      if (!ended) {
        process.descendants().forEach(ProcessHandle::destroyForcibly);
        process.destroyForcibly();
      }
    }
    if (!ended) {
      throw failed(hosts, "did not end within " + atMost.toMillis() + " ms");
    }
    return process.exitValue();
  }

  private List<String> parse(List<String> hosts, String printed) throws TopologyException {
    String text = printed.strip();
    List<String> racks = text.isEmpty() ? List.of() : List.of(text.split("\\s+"));
    if (racks.size() != hosts.size()) {
      throw failed(hosts, "printed " + racks.size() + " paths for " + hosts.size() + " hosts");
    }
    for (int i = 0; i < racks.size(); i++) {
      if (!racks.get(i).startsWith("/")) {
        throw failed(List.of(hosts.get(i)), "printed \"" + start(racks.get(i)) + "\"");
      }
    }
    return racks;
  }

  private TopologyException failed(List<String> hosts, String what) {
    String more = hosts.size() == 1 ? "" : " and " + (hosts.size() - 1) + " more hosts";
    return new TopologyException(
        "the script "
            + path
            + " ("
            + SparkPluginConfiguration.TOPOLOGY_SCRIPT.key()
            + "), asked for "
            + hosts.get(0)
            + more
            + ", "
            + what
            + ". It must be executable on the driver's host, and print a path such as /dc1/rack7"
            + " for each host among its arguments, in their order");
  }

  private static String errors(Path err) throws IOException {
    String text = read(err).strip();
    return text.isEmpty() ? "" : " and \"" + start(text) + "\"";
  }

  private static String start(String text) {
    return text.length() <= 200 ? text : text.substring(0, 200) + "...";
  }

  private static String read(Path file) throws IOException {
    try (InputStream in = Files.newInputStream(file)) {
      return new String(in.readNBytes(MOST_BYTES), StandardCharsets.UTF_8);
    }
  }

  private static void delete(Path file) {
    try {
      if (file != null) {
        Files.deleteIfExists(file);
      }
    } catch (IOException e) {
      // It is in the folder for temporary files.
    }
  }
}
