package org.sparkcollectives.spark.internal.driver;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.sparkcollectives.spark.internal.driver.HostRacks.TopologyException;

/** Tests scripts that tell the racks of hosts, and those that do not. */
class TopologyScriptTest {

  private static final Duration LONG = Duration.ofMinutes(5);
  private static final List<String> HOSTS = List.of("node1", "node2", "10.0.0.3");

  @TempDir private Path folder;

  private TopologyScript script(Duration atMost, String body) throws IOException {
    Path script = folder.resolve("racks.sh");
    Files.writeString(script, "#!/bin/sh\n" + body + "\n");
    Files.setPosixFilePermissions(script, PosixFilePermissions.fromString("rwx------"));
    return new TopologyScript(script.toString(), atMost);
  }

  private void assertThatItIsRefused(TopologyScript script, String because) {
    assertThatThrownBy(() -> script.racks(HOSTS))
        .isInstanceOf(TopologyException.class)
        .hasMessageContaining("the script " + script.path())
        .hasMessageContaining("spark.collectives.topology.script")
        .hasMessageContaining("node1")
        .hasMessageContaining(because)
        .hasMessageContaining("print a path such as /dc1/rack7 for each host");
  }

  @Test
  void aScriptPrintsAPathForEachOfItsArguments() throws Exception {
    assertThat(script(LONG, "for h in \"$@\"; do echo /dc1/$h; done").racks(HOSTS))
        .containsExactly("/dc1/node1", "/dc1/node2", "/dc1/10.0.0.3");
  }

  @Test
  void pathsMayStandInOneLineAsThoseOfHadoopsExamples() throws Exception {
    assertThat(script(LONG, "printf '/a /b /a '").racks(HOSTS)).containsExactly("/a", "/b", "/a");
  }

  @Test
  void aScriptThatFailsIsNamedWithWhatItSays() throws Exception {
    assertThatItIsRefused(
        script(LONG, "echo no such table >&2; exit 3"),
        "ended with status 3 and \"no such table\"");
  }

  @Test
  void aScriptThatPrintsTooLittleOrNonsenseIsRefused() throws Exception {
    assertThatItIsRefused(script(LONG, "echo /a"), "printed 1 paths for 3 hosts");
    assertThatItIsRefused(script(LONG, "echo rack1 rack1 rack1"), "printed \"rack1\"");
    assertThatItIsRefused(script(LONG, "true"), "printed 0 paths for 3 hosts");
  }

  @Test
  void aScriptThatDoesNotEndIsKilledWithItsChildren() throws Exception {
    assertThatItIsRefused(
        script(Duration.ofMillis(200), "sleep 6000 & sleep 6000; echo /a /a /a"),
        "did not end within 200 ms");
  }

  @Test
  void aScriptThatIsNotThereIsRefused() {
    assertThatItIsRefused(
        new TopologyScript(folder.resolve("missing").toString(), LONG), "cannot be run");
  }
}
