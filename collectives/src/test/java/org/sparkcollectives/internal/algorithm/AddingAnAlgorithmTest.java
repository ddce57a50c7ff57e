package org.sparkcollectives.internal.algorithm;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.io.StringWriter;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import javax.tools.JavaCompiler;
import javax.tools.StandardJavaFileManager;
import javax.tools.ToolProvider;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Tests that the steps of the page add an algorithm, and that no other step is needed: it carries
 * them out in a copy of the sources, compiles what they change, and runs the algorithm.
 */
class AddingAnAlgorithmTest {

  private static final Path ROOT = Path.of("..");
  private static final Path PAGE = ROOT.resolve("docs/internals/algorithms.md");
  private static final String HEADING = "\n## Adding an algorithm\n";
  private static final String ADDED = "StarAllReduce";

  @TempDir static Path copy;

  private static String section;
  private static List<Path> sources;
  private static URLClassLoader changed;

  @BeforeAll
  static void followThePage() throws IOException {
    String page = Files.readString(PAGE);
    assertThat(page).contains(HEADING);
    String rest = page.substring(page.indexOf(HEADING) + HEADING.length());
    section = rest.split("(?m)^## ", 2)[0];
    sources = new ArrayList<>();
    for (SourceStep step : SourceStep.of(section)) {
      sources.add(step.apply(ROOT, copy));
    }
    changed =
        new ChangedClasses(
            compile(), classesOf(AlgorithmTable.class), classesOf(AddedAllReduce.class));
  }

  @AfterAll
  static void close() throws IOException {
    if (changed != null) {
      changed.close();
    }
  }

  private static URL compile() throws IOException {
    Path classes = Files.createDirectory(copy.resolve("classes"));
    JavaCompiler compiler = ToolProvider.getSystemJavaCompiler();
    StringWriter problems = new StringWriter();
    try (StandardJavaFileManager files = compiler.getStandardFileManager(null, null, null)) {
      boolean compiles =
          compiler
              .getTask(
                  problems,
                  files,
                  null,
                  List.of(
                      "-proc:none",
                      "-implicit:none",
                      "-classpath",
                      System.getProperty("java.class.path"),
                      "-d",
                      classes.toString()),
                  null,
                  files.getJavaFileObjectsFromPaths(sources.stream().distinct().toList()))
              .call();
      assertThat(compiles).as("%s", problems).isTrue();
    }
    return classes.toUri().toURL();
  }

  private static URL classesOf(Class<?> type) {
    return type.getProtectionDomain().getCodeSource().getLocation();
  }

  /** The classes of the algorithms and of their tests, of which some have been compiled anew. */
  private static final class ChangedClasses extends URLClassLoader {
    private static final String PACKAGE = AlgorithmTable.class.getPackageName() + ".";

    ChangedClasses(URL... classes) {
      super(classes, AddingAnAlgorithmTest.class.getClassLoader());
    }

    @Override
    protected Class<?> loadClass(String name, boolean resolve) throws ClassNotFoundException {
      if (!name.startsWith(PACKAGE)) {
        return super.loadClass(name, resolve);
      }
      synchronized (getClassLoadingLock(name)) {
        Class<?> loaded = findLoadedClass(name);
        return loaded == null ? findClass(name) : loaded;
      }
    }
  }

  /** Calls a method of {@link AddedAllReduce} among the changed classes. */
  private static Object call(String name, Object... arguments) throws Throwable {
    Method method =
        Arrays.stream(changed.loadClass(AddedAllReduce.class.getName()).getDeclaredMethods())
            .filter(each -> each.getName().equals(name))
            .filter(each -> each.getParameterCount() == arguments.length)
            .findFirst()
            .orElseThrow();
    method.setAccessible(true);
    try {
      return method.invoke(null, arguments);
    } catch (InvocationTargetException e) {
      throw e.getCause();
    }
  }

  @Test
  void itKeepsTheContractOfAllReduces() throws Throwable {
    call("keepsTheContract", ADDED);
  }

  @Test
  void itIsListedWhereAllAlgorithmsAre() throws Throwable {
    call("isListed");
  }

  @Test
  void itIsChosenWhereItIsTheCheapest() throws Throwable {
    assertThat(section).contains("9 to 15 ranks");
    call("isChosen", ADDED, 9, 15);
  }

  @Test
  void explainListsItAsThePageShows() throws Throwable {
    String fence = "\n```text\n";
    assertThat(section).contains(fence);
    int begin = section.indexOf(fence) + fence.length();
    String shown = section.substring(begin, section.indexOf("\n```", begin));
    assertThat(shown).contains(ADDED);
    String explained = (String) call("explanation", 10);
    assertThat(explained.lines().toList()).containsSubsequence(shown.lines().toList());
  }

  @Test
  void itsJavadocIsARowOfThePage() {
    Path added = sources.get(0);
    assertThat(added).hasFileName(ADDED + ".java");
    assertThat(AlgorithmSources.row(added)).get().asString().contains("| Steps: 2. ");
  }
}
