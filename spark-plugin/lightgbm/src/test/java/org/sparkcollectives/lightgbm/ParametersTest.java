package org.sparkcollectives.lightgbm;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class ParametersTest {

  private static final ParameterNames NAMES =
      ParameterNames.of(LightGbmLibrary.load(LibraryFile.path()));

  @ParameterizedTest
  @CsvSource({
    "linear_tree, true",
    "linear_trees, 1",
    "interaction_constraints, '[0,1],[2,3]'",
    "cegb_penalty_feature_coupled, '0.1,0.2'",
    "cegb_penalty_feature_lazy, '0.1,0.2'",
  })
  void whatLightGbmHasInOneProcessIsForOneRank(String name, String value) {
    Map<String, String> parameters = NAMES.ownNames(Map.of("objective", "regression", name, value));

    assertThatThrownBy(() -> Parameters.text(parameters, 2, 1, false))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining(name.replace("trees", "tree"))
        .hasMessageContaining("there are 2");
    assertThat(Parameters.text(parameters, 1, 1, false)).contains("=" + value);
  }

  @ParameterizedTest
  @CsvSource({
    "linear_tree, false",
    "interaction_constraints, ''",
    "cegb_penalty_feature_coupled, ''",
    "cegb_penalty_feature_lazy, ''"
  })
  void whatIsNotSetIsForAnyNumberOfRanks(String name, String value) {
    assertThat(Parameters.text(Map.of(name, value), 2, 1, false))
        .contains(name + "=" + value, "num_machines=2");
  }

  @ParameterizedTest
  @CsvSource({
    "num_leafs, num_leaves",
    "numLeaves, num_leaves",
    "learningrate, learning_rate",
    "min_data_in_laef, min_data_in_leaf",
    "baging_fraction, bagging_fraction",
    "obejctive, objective"
  })
  void aParameterThatLightGbmDoesNotKnowIsRefusedWithTheNearestOne(String name, String nearest) {
    assertThatThrownBy(() -> NAMES.ownNames(Map.of(name, "3")))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage(
            "LightGBM has no parameter "
                + name
                + ", and would ignore it. Did you mean "
                + nearest
                + "?");
  }

  @ParameterizedTest
  @ValueSource(strings = {"class_weight", "größe", "x"})
  void aParameterThatIsNearNoneIsRefusedToo(String name) {
    assertThatThrownBy(() -> NAMES.ownNames(Map.of(name, "3")))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessage("LightGBM has no parameter " + name + ", and would ignore it");
  }

  @Test
  void anAliasIsTheParameterItself() {
    assertThat(NAMES.ownNames(Map.of("num_leaf", "3", "app", "binary", "shrinkage_rate", "0.1")))
        .isEqualTo(Map.of("num_leaves", "3", "objective", "binary", "learning_rate", "0.1"));
  }

  @Test
  void aParameterThatIsGivenByTwoNamesIsRefused() {
    assertThatThrownBy(() -> NAMES.ownNames(Map.of("num_leaves", "3", "num_leaf", "4")))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("num_leaves")
        .hasMessageContaining("num_leaf ");
  }

  @ParameterizedTest
  @CsvSource({
    "binary, 2",
    "multiclass, 3",
    "softmax, 3",
    "MULTICLASSOVA, 3",
    "ova, 3",
    "regression, 0",
    "cross_entropy, 0",
    "'', 0"
  })
  void theObjectiveSaysWhetherLabelsAreClasses(String objective, int classes) {
    assertThat(Parameters.classes(Map.of("objective", objective, "num_class", "3")))
        .isEqualTo(classes);
    for (String name : List.of("objective", "objective_type", "app", "application", "loss")) {
      assertThat(Parameters.classifies(Map.of(name, objective))).isEqualTo(classes > 0);
      assertThat(NAMES.ownNames(Map.of(name, objective))).containsKey("objective");
    }
  }

  @ParameterizedTest
  @CsvSource({"metric, 'auc l2'", "metric, 'auc\tl2'", "metric, auc=l2", "'a b', 1", "a=b, 1"})
  void whatBreaksTheTextOfTheParametersIsRefused(String name, String value) {
    assertThatThrownBy(() -> Parameters.check(Map.of(name, value)))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining(name)
        .hasMessageContaining(value);
  }

  @Test
  void aParameterWithoutAValueIsNamed() {
    Map<String, String> parameters = new HashMap<>();
    parameters.put("metric", null);

    assertThatThrownBy(() -> Parameters.check(parameters))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("metric has no value");
  }
}
