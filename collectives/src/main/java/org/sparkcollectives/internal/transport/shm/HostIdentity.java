package org.sparkcollectives.internal.transport.shm;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * Names the place within which JVMs can share memory: the machine as the kernel has booted it, and
 * there the PID namespace.
 *
 * <p>The boot id alone is not enough: all containers of a machine have the same. A {@link
 * SharedFile} is found as {@code /proc/<process>/fd/<descriptor>}, and what that leads to depends
 * on the PID namespace: two pods of one Kubernetes node are each process 1 of their own, and each
 * would open its own descriptor. Whatever else differs (mounts, network, user) does not matter to
 * the way there; whether the file is there, and may be opened, is for {@link SharedFile#open} to
 * say.
 */
public final class HostIdentity {

  private static final Path BOOT_ID = Path.of("/proc/sys/kernel/random/boot_id");
  private static final Path PID_NAMESPACE = Path.of("/proc/self/ns/pid");

  private HostIdentity() {}

  /**
   * Returns the identity of the place that this JVM is in; empty where there is none, which is then
   * like no other.
   */
  public static String current() {
    return of(BOOT_ID, PID_NAMESPACE);
  }

  /** Reads it from a file with the boot id, and a link that names the PID namespace. */
  static String of(Path bootId, Path pidNamespace) {
    String boot;
    try {
      boot = Files.readString(bootId, StandardCharsets.US_ASCII).strip();
    } catch (IOException e) {
      return "";
    }
    try {
      return boot + "/" + Files.readSymbolicLink(pidNamespace);
    } catch (IOException | UnsupportedOperationException e) {
      // A kernel without namespaces, or one that does not tell: then all processes see each other.
      return boot;
    }
  }
}
