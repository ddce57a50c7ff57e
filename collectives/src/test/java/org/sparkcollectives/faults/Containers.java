package org.sparkcollectives.faults;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.junit.jupiter.api.Assertions.fail;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.sparkcollectives.testing.Eventually;

/**
 * Puts processes where a container runtime would, by Linux namespaces. Each method returns the
 * words to put before a command.
 *
 * <p>Each place has a {@code /dev/shm} of its own. All others files are those of this process.
 */
final class Containers {

  /** A {@code /dev/shm} as Kubernetes mounts it where the pod does not say otherwise. */
  static final String SHM = "size=64m";

  /** A {@code /dev/shm} in which not even a file without bytes can be made. */
  static final String FULL = "size=4k,nr_inodes=1";

  /** A {@code /dev/shm} with less room than one path needs. */
  static final String TOO_SMALL = "size=64k";

  /** A {@code /dev/shm} in which nothing can be made. */
  static final String READ_ONLY = "ro,size=64m";

  /**
   * If set, a machine that has no namespaces fails the tests that need them. Else they are skipped.
   */
  private static final String REQUIRED = "NAMESPACES_REQUIRED";

  /** Mounts, given the options of /dev/shm and a file with a boot id or nothing. */
  private static final String MOUNT =
      "mount -t tmpfs -o \"$1\" tmpfs /dev/shm"
          + " && if [ -n \"$2\" ]; then mount --bind \"$2\" /proc/sys/kernel/random/boot_id; fi"
          + " && shift 2 && exec \"$@\"";

  private static final List<String> OWN_PROCESSES =
      List.of("unshare", "--pid", "--fork", "--kill-child", "--mount-proc", "--ipc", "--mount");

  private Containers() {}

  /** A pod whose containers share its PID namespace. Its end kills them. */
  static final class Pod implements AutoCloseable {

    private final Process first;

    /** Starts the pod, with a process 1 that does nothing. */
    Pod() throws IOException {
      List<String> command = new ArrayList<>(OWN_PROCESSES);
      command.addAll(List.of("sleep", "infinity"));
      first = new ProcessBuilder(command).start();
    }

    /** Returns a container of the pod. */
    List<String> container(String shm) {
      Eventually.holds(
          () -> first.children().findAny().isPresent(), () -> "the pod has no process");
      long process = first.children().findAny().orElseThrow().pid();
      List<String> command = new ArrayList<>(List.of("nsenter", "--target=" + process));
      command.addAll(List.of("--pid", "--ipc", "unshare", "--mount", "--mount-proc"));
      return mounting(command, shm, "");
    }

    @Override
    public void close() {
      first.destroyForcibly();
    }
  }

  /** Returns a pod of this machine with one container, whose command is process 1. */
  static List<String> pod(String shm) {
    return mounting(OWN_PROCESSES, shm, "");
  }

  /** Returns a container that shares the PID namespace of this process. */
  static List<String> container(String shm) {
    return mounting(List.of("unshare", "--mount", "--ipc"), shm, "");
  }

  /** Returns a pod of another machine, whose boot id is in a file. */
  static List<String> machine(Path bootId) {
    return mounting(OWN_PROCESSES, SHM, bootId.toString());
  }

  private static List<String> mounting(List<String> before, String shm, String bootId) {
    List<String> command = new ArrayList<>(before);
    command.addAll(List.of("sh", "-c", MOUNT, "container", shm, bootId));
    return command;
  }

  /** Skips the test if there can be no such places here; fails it where they are required. */
  static void require() throws InterruptedException {
    requireNone(obstacle());
  }

  /** Skips the test if there is an obstacle; fails it where namespaces are required. */
  static void requireNone(String obstacle) {
    if (!obstacle.isEmpty() && System.getenv(REQUIRED) != null) {
      fail(REQUIRED + " is set, but namespaces cannot be made here: " + obstacle);
    }
    assumeTrue(obstacle.isEmpty(), () -> "Namespaces cannot be made here: " + obstacle);
  }

  private static String obstacle() throws InterruptedException {
    List<String> command = new ArrayList<>(pod(SHM));
    command.add("true");
    try {
      Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
      String text = new String(process.getInputStream().readAllBytes(), UTF_8);
      boolean ended = process.waitFor(30, TimeUnit.SECONDS);
      return ended && process.exitValue() == 0 ? "" : "unshare: " + text.strip();
    } catch (IOException e) {
      return String.valueOf(e.getMessage());
    }
  }
}
