package org.sparkcollectives.examples.pages;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.sparkcollectives.examples.benchmark.CollectivesBenchmark;
import org.sparkcollectives.examples.benchmark.ScaleBenchmark;
import org.sparkcollectives.examples.digits.DigitsTraining;
import org.sparkcollectives.testing.SourceTree;
import picocli.CommandLine;

/**
 * Checks each command of the shell samples: its program, its options, and the files, classes,
 * modules, profiles and tests that it names exist. The continuous integration runs the README's
 * quick start itself.
 */
class ShellSamplesTest {

  /** Programs of our own whose options picocli knows. */
  private static final Map<String, Class<?>> PROGRAMS =
      Map.of(
          "examples/digits", DigitsTraining.class,
          "examples/benchmark", CollectivesBenchmark.class,
          "examples/scale", ScaleBenchmark.class);

  /**
   * Programs that a shell or a machine has, or a package installs; their arguments that name files
   * of ours are checked.
   */
  private static final Set<String> OTHERS =
      Set.of(
          "cp",
          "databricks",
          "docker",
          "export",
          "git",
          "jcmd",
          "jfr",
          "kubectl",
          "pip",
          "pyspark",
          "python",
          "spark-shell",
          "spark-submit",
          "start-connect-server.sh",
          "tar");

  /** Programs of our own in Python, in the folder of the comparison. */
  private static final Map<String, String> COMPARISONS =
      Map.of(
          "examples/comparison", "compare.py",
          "examples/hosts", "cluster.py",
          "examples/hosts-benchmark", "several_hosts.py");

  private static final List<Path> FILES = SourceTree.files(Sample.ROOT);

  private static final Path COMPARISON = Sample.ROOT.resolve("examples/src/main/comparison");

  private static final Pattern COMPARISON_OPTION =
      Pattern.compile("add_argument\\(\"(--[a-z-]+)\"");

  static Stream<ShellCommand> commands() throws IOException {
    return Sample.in("sh").stream().flatMap(sample -> ShellCommand.of(sample).stream());
  }

  private static String local(String program) {
    return program.startsWith("./") ? program.substring(2) : program;
  }

  @ParameterizedTest
  @MethodSource("commands")
  void theProgramIsThere(ShellCommand command) {
    String program = local(command.program());
    if (!OTHERS.contains(program) && !program.startsWith("gpu-bundle/")) {
      assertThat(Sample.ROOT.resolve(program)).as("%s", command).isExecutable();
    }
  }

  @ParameterizedTest
  @MethodSource("commands")
  void theProgramTakesTheOptions(ShellCommand command) throws IOException {
    Class<?> program = PROGRAMS.get(local(command.program()));
    if (program != null) {
      parse(program, command.arguments());
    } else if (COMPARISONS.containsKey(local(command.program()))) {
      String source =
          Files.readString(COMPARISON.resolve(COMPARISONS.get(local(command.program()))));
      Set<String> known =
          COMPARISON_OPTION
              .matcher(source)
              .results()
              .map(option -> option.group(1))
              .collect(Collectors.toSet());
      assertThat(command.arguments())
          .filteredOn(argument -> argument.startsWith("--") && !argument.equals("--help"))
          .as("%s", command)
          .isSubsetOf(known);
    }
  }

  private static void parse(Class<?> program, List<String> arguments) {
    CommandLine line =
        program == DigitsTraining.class
            ? DigitsTraining.commandLine()
            : program == ScaleBenchmark.class
                ? ScaleBenchmark.commandLine(new ScaleBenchmark())
                : CollectivesBenchmark.commandLine(new CollectivesBenchmark());
    line.parseArgs(arguments.toArray(String[]::new));
  }

  @ParameterizedTest
  @MethodSource("commands")
  void theClassesAndJarsThatSparkIsGivenAreThere(ShellCommand command) throws Exception {
    for (String name : command.option("--class")) {
      Class<?> main = Class.forName(name);
      assertThat(main.getMethod("main", String[].class)).isNotNull();
      int jar =
          command
              .words()
              .indexOf(
                  "examples/target/spark-collectives-examples-" + ProjectVersion.ofTree() + ".jar");
      if (PROGRAMS.containsValue(main)) {
        assertThat(jar).as("the jar of %s in %s", name, command).isPositive();
        parse(main, command.words().subList(jar + 1, command.words().size()));
      }
    }
    for (String setting : command.option("--conf")) {
      if (setting.startsWith("spark.plugins=")) {
        Class.forName(setting.substring(setting.indexOf('=') + 1));
      }
    }
    for (String word : command.words()) {
      if (word.matches(".*/target/.*\\.jar")) {
        assertThat(word).as("%s", command).contains(ProjectVersion.ofTree());
      }
    }
  }

  @ParameterizedTest
  @MethodSource("commands")
  void theModulesProfilesAndTestsThatMavenIsGivenAreThere(ShellCommand command) {
    if (!local(command.program()).equals("mvnw")) {
      return;
    }
    List<Path> poms = find("pom\\.xml");
    for (String word : command.arguments()) {
      if (word.startsWith("-P")) {
        String id = "<id>" + word.substring(2) + "</id>";
        assertThat(poms)
            .as("%s of %s", word, command)
            .anySatisfy(pom -> assertThat(Files.readString(pom)).contains(id));
      }
    }
    for (String module : command.option("-pl")) {
      assertThat(module.split(",", -1))
          .allSatisfy(each -> assertThat(Sample.ROOT.resolve(each).resolve("pom.xml")).exists());
    }
    for (String option : List.of("-Dtest", "-Dit.test")) {
      for (String tests : command.option(option)) {
        assertThat(tests.split(",", -1))
            .filteredOn(test -> !test.equals("none"))
            .as("%s of %s", option, command)
            .allSatisfy(test -> assertThat(sources(test)).isNotEmpty());
      }
    }
  }

  private static List<Path> sources(String test) {
    return find(test.replaceAll("#.*", "").replace("*", "\\w*") + "\\.(java|scala)");
  }

  private static List<Path> find(String name) {
    Pattern pattern = Pattern.compile(name);
    return FILES.stream()
        .filter(file -> pattern.matcher(file.getFileName().toString()).matches())
        .toList();
  }

  @ParameterizedTest
  @MethodSource("commands")
  void theFoldersThatPipIsGivenAreThere(ShellCommand command) {
    if (command.program().equals("pip")) {
      assertThat(command.arguments())
          .filteredOn(argument -> argument.startsWith("./"))
          .allSatisfy(
              folder -> assertThat(Sample.ROOT.resolve(folder).resolve("pyproject.toml")).exists());
    }
  }

  @Test
  void everyBlockThatIsNoConfigurationHasALanguageThatATestLooksAt() throws IOException {
    assertThat(Sample.all())
        .filteredOn(sample -> !sample.name().equals("settings"))
        .extracting(Sample::language)
        .isSubsetOf(
            List.of(
                "java", "scala", "python", "sh", "xml", "yaml", "sbt", "kotlin", "diff", "text",
                "mermaid"));
  }
}
