package org.sparkcollectives.examples.pages;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Stream;
import javax.tools.DiagnosticCollector;
import javax.tools.JavaFileObject;
import javax.tools.SimpleJavaFileObject;
import javax.tools.ToolProvider;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Compiles each Java sample of README and docs, as it stands on the page. */
class JavaSamplesTest {

  static Stream<Sample> samples() throws IOException {
    return Sample.in("java").stream();
  }

  @ParameterizedTest
  @MethodSource("samples")
  void aJavaSampleCompiles(Sample sample) throws IOException {
    DiagnosticCollector<JavaFileObject> problems = new DiagnosticCollector<>();
    Path classes = Files.createDirectories(Path.of("target/samples", sample.name()));
    List<String> options =
        List.of(
            "-proc:none",
            "-implicit:none",
            "-classpath",
            Sample.classPath(),
            "-d",
            classes.toString());
    boolean compiles =
        ToolProvider.getSystemJavaCompiler()
            .getTask(null, null, problems, options, null, List.of(new Source(sample.inContext())))
            .call();
    assertThat(compiles).as("%s: %s", sample, problems.getDiagnostics()).isTrue();
  }

  private static final class Source extends SimpleJavaFileObject {
    private final String text;

    Source(String text) {
      super(URI.create("string:///Sample.java"), Kind.SOURCE);
      this.text = text;
    }

    @Override
    public CharSequence getCharContent(boolean ignoreEncodingErrors) {
      return text;
    }
  }
}
