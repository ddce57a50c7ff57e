package org.sparkcollectives.ml;

import static org.assertj.core.api.Assertions.assertThat;

import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.util.Arrays;
import java.util.stream.Stream;
import org.apache.spark.ml.Estimator;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.sparkcollectives.ml.classification.FMClassifier;
import org.sparkcollectives.ml.classification.LinearSVC;
import org.sparkcollectives.ml.classification.LogisticRegression;
import org.sparkcollectives.ml.clustering.GaussianMixture;
import org.sparkcollectives.ml.clustering.KMeans;
import org.sparkcollectives.ml.regression.AFTSurvivalRegression;
import org.sparkcollectives.ml.regression.FMRegressor;
import org.sparkcollectives.ml.regression.LinearRegression;

/** Setters of the estimators, which a Java program calls one after another. */
class SettersTest {

  @ParameterizedTest
  @ValueSource(
      classes = {
        AFTSurvivalRegression.class,
        FMClassifier.class,
        FMRegressor.class,
        GaussianMixture.class,
        KMeans.class,
        LinearRegression.class,
        LinearSVC.class,
        LogisticRegression.class,
      })
  void eachSetterOfSparksEstimatorReturnsThisEstimator(Class<? extends Estimator<?>> own)
      throws Exception {
    Method[] setters = setters(own.getSuperclass()).toArray(Method[]::new);

    assertThat(setters).hasSizeGreaterThan(8);
    for (Method setter : setters) {
      // Of several methods that differ in what they return alone, this is the most specific one.
      Method found = own.getMethod(setter.getName(), setter.getParameterTypes());
      assertThat(found.getReturnType()).as("%s", setter).isEqualTo(own);
    }
  }

  private static Stream<Method> setters(Class<?> sparks) {
    return Arrays.stream(sparks.getMethods())
        .filter(method -> method.getName().matches("set[A-Z]\\w*"))
        .filter(method -> method.getParameterCount() == 1)
        // What is protected in Scala is public for the JVM.
        .filter(method -> !Modifier.isFinal(method.getModifiers()))
        .filter(method -> method.getReturnType().isAssignableFrom(sparks));
  }
}
