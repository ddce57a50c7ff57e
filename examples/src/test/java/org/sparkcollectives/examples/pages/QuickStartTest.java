package org.sparkcollectives.examples.pages;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Tests that the README's quick start from source stays two commands. */
class QuickStartTest {

  @Test
  void theQuickStartIsTwoCommandsThatExist() throws IOException {
    List<String> commands = commands();
    assertThat(commands).containsExactly("./examples/digits", "./mvnw verify");
    assertThat(commands)
        .allSatisfy(
            command -> assertThat(Sample.ROOT.resolve(command.split(" ", -1)[0])).isExecutable());
  }

  private static List<String> commands() throws IOException {
    String readme = Page.of("README.md").text();
    String section =
        readme.split("(?m)^## Quick start from source$", -1)[1].split("(?m)^## ", -1)[0];
    List<Sample> samples = Sample.of(Path.of("README.md"), section);
    assertThat(samples).hasSize(1);
    return samples.get(0).text().lines().toList();
  }

  @Test
  void theContinuousIntegrationFindsItsOneCommand() throws IOException {
    // As .ci/run looks for it: from the heading to the next that begins so, or to the end.
    String readme = Page.of("README.md").text();
    String rest = readme.split("(?m)^## Quick start", -1)[1].split("(?m)^## In your", -1)[0];
    assertThat(rest.lines().filter(line -> line.startsWith("./mvnw")))
        .containsExactly("./mvnw verify");
  }
}
