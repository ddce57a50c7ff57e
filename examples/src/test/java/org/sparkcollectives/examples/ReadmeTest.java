package org.sparkcollectives.examples;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import javax.tools.Diagnostic;
import javax.tools.DiagnosticCollector;
import javax.tools.JavaCompiler;
import javax.tools.JavaFileObject;
import javax.tools.SimpleJavaFileObject;
import javax.tools.ToolProvider;
import org.junit.jupiter.api.Test;

/** The README tells new users what to type; this makes sure that it can be typed. */
class ReadmeTest {

  private static final Path ROOT = Path.of("..");

  private static List<String> blocks(String text, String language) {
    return Pattern.compile("(?s)```" + language + "\\n(.*?)```")
        .matcher(text)
        .results()
        .map((MatchResult block) -> block.group(1))
        .toList();
  }

  private static String readme() throws IOException {
    return Files.readString(ROOT.resolve("README.md"));
  }

  @Test
  void theQuickStartIsTwoCommandsThatExist() throws IOException {
    String section = readme().split("(?m)^## Quick start$", -1)[1].split("(?m)^## ", -1)[0];
    List<String> blocks = blocks(section, "sh");
    assertThat(blocks).hasSize(1);
    List<String> commands = blocks.get(0).lines().toList();
    assertThat(commands).containsExactly("./examples/digits", "./mvnw verify");
    assertThat(commands)
        .allSatisfy(command -> assertThat(ROOT.resolve(command.split(" ", -1)[0])).isExecutable());
  }

  @Test
  void theJavaProgramCompiles() throws IOException {
    List<String> blocks = blocks(readme(), "java");
    assertThat(blocks).hasSize(1);
    String source =
        """
        import java.util.*;
        import org.apache.spark.api.java.JavaRDD;
        import org.sparkcollectives.*;
        import org.sparkcollectives.spark.*;

        abstract class Program {
          static double[] localGradient(Iterator<double[]> rows) {
            return rows.next();
          }

          static Object run(JavaRDD<double[]> points) {
        %s
            return gradients;
          }
        }
        """
            .formatted(blocks.get(0));
    DiagnosticCollector<JavaFileObject> problems = new DiagnosticCollector<>();
    JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
    boolean compiles =
        compiler
            .getTask(
                null,
                null,
                problems,
                List.of(
                    "-proc:none",
                    "-implicit:none",
                    "-classpath",
                    System.getProperty("java.class.path"),
                    "-d",
                    Files.createDirectories(Path.of("target/readme")).toString()),
                null,
                List.of(new Source(source)))
            .call();
    List<Diagnostic<? extends JavaFileObject>> found = problems.getDiagnostics();
    assertThat(compiles).as("%s", found).isTrue();
  }

  private static final class Source extends SimpleJavaFileObject {
    private final String text;

    Source(String text) {
      super(URI.create("string:///Program.java"), Kind.SOURCE);
      this.text = text;
    }

    @Override
    public CharSequence getCharContent(boolean ignoreEncodingErrors) {
      return text;
    }
  }
}
