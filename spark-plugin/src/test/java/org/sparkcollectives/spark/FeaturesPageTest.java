package org.sparkcollectives.spark;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.sparkcollectives.Coalescing;
import org.sparkcollectives.GroupOptions;
import org.sparkcollectives.ObjectCollectives;
import org.sparkcollectives.ProcessGroup;
import org.sparkcollectives.Rendezvous;
import org.sparkcollectives.Tensor;
import org.sparkcollectives.Work;
import org.sparkcollectives.config.ConfigEntry;
import org.sparkcollectives.gpu.GpuConfiguration;
import org.sparkcollectives.spark.FeaturesPage.Row;
import org.sparkcollectives.spark.config.SparkPluginConfiguration;
import org.sparkcollectives.spi.BackendRegistry;
import org.sparkcollectives.spi.CollectivesConfiguration;
import org.sparkcollectives.store.Store;
import org.sparkcollectives.store.StoreConfiguration;

/**
 * Checks that the page of features matches the code. With {@code -Dcollectives.docs.update=true} it
 * writes the counts instead of comparing them.
 */
class FeaturesPageTest {

  private static final Path FILE = Path.of("../docs/reference/features.md");
  private static final TestSources SOURCES = new TestSources(Path.of(".."));

  /** The types that users call most; all their methods are on the page. */
  private static final List<Class<?>> MAIN_TYPES =
      List.of(
          ProcessGroup.class,
          Work.class,
          Tensor.class,
          Store.class,
          GroupOptions.class,
          ObjectCollectives.class,
          Coalescing.class,
          Rendezvous.class,
          BackendRegistry.class);

  private static List<Row> rows() throws IOException {
    return new FeaturesPage(Files.readString(FILE)).rows();
  }

  @Test
  void everyRowThatIsThereNamesATest() throws IOException {
    assertThat(rows())
        .isNotEmpty()
        .filteredOn(row -> row.state().isThere())
        .allSatisfy(row -> assertThat(row.tests()).as("tests of %s", row).isNotEmpty());
  }

  @Test
  void theTestsThatAreNamedExist() throws IOException {
    Set<String> missing = new TreeSet<>();
    for (Row row : rows()) {
      for (String test : row.tests()) {
        if (!SOURCES.has(test)) {
          missing.add(test + ", of " + row.feature());
        }
      }
    }
    assertThat(missing).as("tests on the page that are not in the code").isEmpty();
  }

  @Test
  void aTestThatIsNotThereIsFound() {
    assertThat(SOURCES.has("FeaturesPageTest")).isTrue();
    assertThat(SOURCES.has("FeaturesPageTest#aTestThatIsNotThereIsFound")).isTrue();
    assertThat(SOURCES.has("HashStoreTest#aValueIsReadAsItWasSet")).as("inherited").isTrue();
    assertThat(SOURCES.has("WorldSuite")).as("of Scala").isTrue();
    assertThat(SOURCES.has("FeaturesPageTest#rows")).as("not a test").isFalse();
    assertThat(SOURCES.has("FeaturesPage")).as("without tests").isFalse();
    assertThat(SOURCES.has("NoSuchTest")).isFalse();
  }

  @Test
  void everyRowThatDiffersSaysHow() throws IOException {
    assertThat(rows())
        .filteredOn(row -> row.state() == FeaturesPage.State.DIFFERS)
        .allSatisfy(row -> assertThat(row.reason()).as("reason of %s", row).isNotEmpty());
  }

  @Test
  void everyPublicMethodOfTheMainTypesIsNamed() throws IOException {
    Set<String> named = rows().stream().flatMap(row -> row.names().stream()).collect(toSet());
    Set<String> unnamed = new TreeSet<>();
    for (Class<?> type : MAIN_TYPES) {
      for (Method method : type.getMethods()) {
        String name = type.getSimpleName() + "." + method.getName();
        boolean shown = method.getDeclaringClass() != Object.class && !method.isSynthetic();
        if (shown && !named.contains(name)) {
          unnamed.add(name);
        }
      }
    }
    assertThat(unnamed).as("methods that no row of %s names", FILE).isEmpty();
  }

  private static <T> java.util.stream.Collector<T, ?, Set<T>> toSet() {
    return Collectors.toCollection(HashSet::new);
  }

  @Test
  void theNamesOnThePageExist() throws IOException {
    Set<String> settings =
        Stream.of(
                CollectivesConfiguration.entries(),
                StoreConfiguration.entries(),
                GpuConfiguration.entries(),
                SparkPluginConfiguration.entries())
            .flatMap(List::stream)
            .map(ConfigEntry::key)
            .collect(toSet());
    Set<String> wrong = new TreeSet<>();
    for (Row row : rows()) {
      for (String name : row.names()) {
        if (!settings.contains(name) && !isInTheCode(name)) {
          wrong.add(name + ", of " + row.feature());
        }
      }
    }
    assertThat(wrong).as("names on the page that are not in the code").isEmpty();
  }

  @Test
  void theNamesInPythonExist() throws IOException {
    PythonSources python = new PythonSources(Path.of("../python-shim"));
    Set<String> wrong = new TreeSet<>();
    for (Row row : rows()) {
      for (String name : row.python()) {
        if (!python.has(name)) {
          wrong.add(name + ", of " + row.feature());
        }
      }
    }
    assertThat(wrong).as("names of Python on the page that are not in its package").isEmpty();
    assertThat(new FeaturesPage(Files.readString(FILE)).pythonTests())
        .isNotEmpty()
        .allMatch(python::has);
    assertThat(python.has("no_such_function")).isFalse();
    assertThat(python.has("Work.no_such_method")).isFalse();
    assertThat(python.has("test_no_such_file")).isFalse();
  }

  /** Returns whether {@code Type} or {@code Type.member} is public. */
  private static boolean isInTheCode(String name) {
    String[] parts = name.split("\\.", 2);
    String fullName = SOURCES.fullName(parts[0]);
    if (fullName == null) {
      return false;
    }
    try {
      // Not initialised: some types load classes that only Spark brings.
      Class<?> type =
          Class.forName(fullName, false, Thread.currentThread().getContextClassLoader());
      return Modifier.isPublic(type.getModifiers())
          && (parts.length == 1 || hasMember(type, parts[1]));
    } catch (ClassNotFoundException e) {
      return false;
    }
  }

  private static boolean hasMember(Class<?> type, String member) {
    return Arrays.stream(type.getMethods()).anyMatch(each -> each.getName().equals(member))
        || Arrays.stream(type.getFields()).anyMatch(each -> each.getName().equals(member))
        || Arrays.stream(type.getClasses()).anyMatch(each -> each.getSimpleName().equals(member));
  }

  @Test
  void theCountsAreThoseOfTheRows() throws IOException {
    String page = Files.readString(FILE);
    String expected = FeaturesPage.withCounts(page);
    if (Boolean.getBoolean("collectives.docs.update")) {
      Files.writeString(FILE, expected);
    }
    assertThat(Files.readString(FILE))
        .as("%s; run the tests of spark-plugin with -Dcollectives.docs.update=true", FILE)
        .isEqualTo(expected);
  }
}
