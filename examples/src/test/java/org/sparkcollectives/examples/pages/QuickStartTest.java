package org.sparkcollectives.examples.pages;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Tests that the README's quick start stays two commands. */
class QuickStartTest {

  @Test
  void theQuickStartIsTwoCommandsThatExist() throws IOException {
    String readme = Files.readString(Sample.ROOT.resolve("README.md"));
    String section = readme.split("(?m)^## Quick start$", -1)[1].split("(?m)^## ", -1)[0];
    List<Sample> samples = Sample.of(Path.of("README.md"), section);
    assertThat(samples).hasSize(1);
    List<String> commands = samples.get(0).text().lines().toList();
    assertThat(commands).containsExactly("./examples/digits", "./mvnw verify");
    assertThat(commands)
        .allSatisfy(
            command -> assertThat(Sample.ROOT.resolve(command.split(" ", -1)[0])).isExecutable());
  }
}
