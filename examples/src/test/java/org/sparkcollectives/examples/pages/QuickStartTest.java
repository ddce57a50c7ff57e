package org.sparkcollectives.examples.pages;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Tests that the README's section "Try it" begins with two commands. */
class QuickStartTest {

  @Test
  void theFirstTwoCommandsExist() throws IOException {
    List<String> commands = commands();
    assertThat(commands).containsExactly("./examples/digits", "./mvnw verify");
    assertThat(commands)
        .allSatisfy(
            command -> assertThat(Sample.ROOT.resolve(command.split(" ", -1)[0])).isExecutable());
  }

  private static List<String> commands() throws IOException {
    String readme = Page.of("README.md").text();
    String section = readme.split("(?m)^## Try it$", -1)[1].split("(?m)^## ", -1)[0];
    List<Sample> samples = Sample.of(Path.of("README.md"), section);
    return samples.get(0).text().lines().toList();
  }

  @Test
  void theContinuousIntegrationFindsItsOneCommand() throws IOException {
    // As .ci/run looks for it: the first line between two headings that calls Maven.
    String readme = Page.of("README.md").text();
    String rest = readme.split("(?m)^## Try it", -1)[1].split("(?m)^## What", -1)[0];
    assertThat(rest.lines().filter(line -> line.startsWith("./mvnw"))).startsWith("./mvnw verify");
  }
}
