package org.sparkcollectives.lightgbm.internal;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class ParametersTest {

  @ParameterizedTest
  @CsvSource({"linear_tree, true", "linear_trees, 1"})
  void linearTreesAreForOneRank(String name, String value) {
    Map<String, String> parameters = Map.of("objective", "regression", name, value);

    assertThatThrownBy(() -> Parameters.text(parameters, 2, 1, false))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining(name)
        .hasMessageContaining("there are 2");
    assertThat(Parameters.text(parameters, 1, 1, false)).contains(name + "=" + value);
  }

  @Test
  void treesThatAreNotLinearAreForAnyNumberOfRanks() {
    assertThat(Parameters.text(Map.of("linear_tree", "false"), 2, 1, false))
        .contains("linear_tree=false", "num_machines=2");
  }
}
