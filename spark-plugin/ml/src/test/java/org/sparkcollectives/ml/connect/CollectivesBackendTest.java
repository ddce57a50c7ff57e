package org.sparkcollectives.ml.connect;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThatCode;

import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaModifier;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import java.util.List;
import java.util.ServiceLoader;
import org.apache.spark.ml.Estimator;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

class CollectivesBackendTest {

  private static final String OWN = "org.sparkcollectives.ml.";

  @BeforeAll
  static void sparkHasConnectsMachineLearning() {
    assumeThatCode(() -> Class.forName("org.apache.spark.sql.connect.plugin.MLBackendPlugin"))
        .as("Spark 3.5 has no machine learning in Connect")
        .doesNotThrowAnyException();
  }

  private static List<Class<?>> listed() {
    return ServiceLoader.load(Estimator.class).stream()
        .<Class<?>>map(ServiceLoader.Provider::type)
        .filter(type -> type.getName().startsWith(OWN))
        .toList();
  }

  @Test
  void everyEstimatorIsListedForSparkConnect() {
    List<String> estimators =
        new ClassFileImporter()
                .withImportOption(new ImportOption.DoNotIncludeTests())
                .importPackages("org.sparkcollectives.ml")
                .stream()
                .filter(type -> type.isAssignableTo(Estimator.class))
                .filter(type -> !type.getModifiers().contains(JavaModifier.ABSTRACT))
                .map(JavaClass::getName)
                .toList();
    assertThat(listed()).extracting(Class::getName).containsExactlyInAnyOrderElementsOf(estimators);
    assertThat(estimators).isNotEmpty();
  }

  @ParameterizedTest
  @MethodSource("listed")
  void anEstimatorOfSparkIsReplacedByTheOneOfTheSameName(Class<?> estimator) throws Exception {
    String stock = estimator.getName().replace(OWN, "org.apache.spark.ml.");
    assertThat(new CollectivesBackend().transform(stock)).contains(estimator.getName());
    Estimator<?> made = (Estimator<?>) estimator.getConstructor(String.class).newInstance("uid");
    assertThat(made.uid()).isEqualTo("uid");
    assertThat(made).isInstanceOf(Class.forName(stock));
  }

  @Test
  void everythingElseStaysWhatItIs() {
    CollectivesBackend backend = new CollectivesBackend();
    for (String name :
        List.of(
            "org.apache.spark.ml.classification.NaiveBayes",
            "org.apache.spark.ml.classification.LogisticRegressionModel",
            "org.apache.spark.ml.feature.StandardScaler",
            "org.sparkcollectives.ml.classification.LogisticRegression",
            "no.such.Estimator")) {
      assertThat(backend.transform(name)).as(name).isEmpty();
    }
  }
}
