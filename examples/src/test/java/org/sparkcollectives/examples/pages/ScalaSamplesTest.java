package org.sparkcollectives.examples.pages;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import scala.tools.nsc.Main;

/** Compiles the Scala samples of README and docs, as they stand on the page. */
class ScalaSamplesTest {

  @Test
  void allScalaSamplesCompile() throws IOException {
    Path folder = Files.createDirectories(Path.of("target/samples/scala"));
    List<String> arguments =
        new ArrayList<>(List.of("-classpath", Sample.classPath(), "-d", folder.toString()));
    List<Sample> samples = Sample.in("scala");
    for (Sample sample : samples) {
      Path source = folder.resolve(sample.name() + ".scala");
      Files.writeString(source, sample.inContext());
      arguments.add(source.toString());
    }
    assertThat(samples).isNotEmpty();
    assertThat(Main.process(arguments.toArray(String[]::new)))
        .as("%s compile; the compiler's words are in this test's output", samples)
        .isTrue();
  }
}
