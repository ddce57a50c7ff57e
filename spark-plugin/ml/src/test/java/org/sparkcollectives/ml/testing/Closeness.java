package org.sparkcollectives.ml.testing;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import java.util.Arrays;
import java.util.List;
import java.util.stream.Collectors;
import org.apache.spark.ml.param.Param;
import org.apache.spark.ml.param.Params;

/** How close a fit has to come to Spark's own. */
public final class Closeness {

  /** The largest difference, relative to the largest of the expected numbers. */
  private static final double RELATIVE = 1e-9;

  private Closeness() {}

  /** Asserts that all numbers are as close as converged fits have to be. */
  public static void assertClose(double[] found, double[] expected) {
    assertThat(found).hasSameSizeAs(expected);
    double scale = Arrays.stream(expected).map(Math::abs).max().orElse(0);
    assertThat(found).containsExactly(expected, within(RELATIVE * scale));
  }

  /** Asserts that the same Params are set to the same values. */
  public static void assertSameParams(Params found, Params expected) {
    assertThat(values(found)).isEqualTo(values(expected));
  }

  private static List<String> values(Params params) {
    return Arrays.stream(params.params())
        .map(param -> param.name() + "=" + (params.isSet(param) ? text(params, param) : ""))
        .collect(Collectors.toList());
  }

  private static String text(Params params, Param<?> param) {
    Object value = params.get(param).get();
    return value instanceof double[] numbers ? Arrays.toString(numbers) : value.toString();
  }

  /** Returns the names of all Params of an estimator. */
  public static List<String> names(Params params) {
    return Arrays.stream(params.params()).map(Param::name).toList();
  }
}
