package org.sparkcollectives.internal.transport.shm;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;
import org.sparkcollectives.testing.Eventually;

/** Which processes take each other for neighbours that can share memory. */
@EnabledOnOs(OS.LINUX)
class HostIdentityTest {

  private static final List<String> OWN_NAMESPACE =
      List.of("unshare", "--pid", "--fork", "--mount-proc", "--kill-child");

  /** What a process prints. */
  static final class Printer {
    private Printer() {}

    public static void main(String[] args) {
      System.out.print("identity " + HostIdentity.current());
    }
  }

  private static Path bootId(Path folder, String id) throws IOException {
    return Files.writeString(folder.resolve("boot-" + id), id + "\n");
  }

  private static Path namespace(Path folder, String name) throws IOException {
    return Files.createSymbolicLink(folder.resolve("ns-" + name), Path.of(name));
  }

  @Test
  void placesOfOnePidNamespaceAreOne(@TempDir Path folder) throws IOException {
    Path boot = bootId(folder, "b1");
    Path namespace = namespace(folder, "pid:[1]");
    assertThat(HostIdentity.of(boot, namespace))
        .isEqualTo(HostIdentity.of(boot, namespace))
        .isEqualTo("b1/pid:[1]");
  }

  @Test
  void placesOfTwoPidNamespacesOfOneMachineAreTwo(@TempDir Path folder) throws IOException {
    Path boot = bootId(folder, "b1");
    assertThat(HostIdentity.of(boot, namespace(folder, "pid:[1]")))
        .isNotEqualTo(HostIdentity.of(boot, namespace(folder, "pid:[2]")));
  }

  @Test
  void placesOfTwoMachinesAreTwo(@TempDir Path folder) throws IOException {
    Path namespace = namespace(folder, "pid:[1]");
    assertThat(HostIdentity.of(bootId(folder, "b1"), namespace))
        .isNotEqualTo(HostIdentity.of(bootId(folder, "b2"), namespace));
  }

  @Test
  void withoutNamespacesTheMachineDecides(@TempDir Path folder) throws IOException {
    assertThat(HostIdentity.of(bootId(folder, "b1"), folder.resolve("none"))).isEqualTo("b1");
  }

  @Test
  void withoutABootIdThereIsNoIdentity(@TempDir Path folder) throws IOException {
    assertThat(HostIdentity.of(folder.resolve("none"), namespace(folder, "pid:[1]"))).isEmpty();
  }

  @Test
  void aProcessBesideThisOneIsInTheSamePlace() throws Exception {
    assertThat(identityIn(List.of())).isEqualTo(HostIdentity.current()).isNotEmpty();
  }

  @Test
  void aProcessInAPidNamespaceOfItsOwnIsInAnotherPlace() throws Exception {
    List<String> probe = new ArrayList<>(OWN_NAMESPACE);
    probe.add("true");
    assumeTrue(succeeds(probe), "PID namespaces cannot be made here (Linux, as root, unshare)");
    assertThat(identityIn(OWN_NAMESPACE)).isNotEqualTo(HostIdentity.current()).isNotEmpty();
  }

  private static boolean succeeds(List<String> command) throws InterruptedException {
    try {
      Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
      return ended(process) && process.exitValue() == 0;
    } catch (IOException e) {
      return false;
    }
  }

  private static boolean ended(Process process) throws InterruptedException {
    boolean ended = process.waitFor(Eventually.LIMIT.toSeconds(), TimeUnit.SECONDS);
    process.destroyForcibly();
    return ended;
  }

  private static String identityIn(List<String> place) throws Exception {
    List<String> command = new ArrayList<>(place);
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.addAll(List.of("-Xshare:auto", "-cp", System.getProperty("java.class.path")));
    command.add(Printer.class.getName());
    Process process =
        new ProcessBuilder(command).redirectError(ProcessBuilder.Redirect.INHERIT).start();
    String printed = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    assertThat(ended(process)).as("the process has ended").isTrue();
    assertThat(printed).startsWith("identity ");
    return printed.substring("identity ".length());
  }
}
