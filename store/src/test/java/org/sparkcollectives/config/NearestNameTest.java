package org.sparkcollectives.config;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class NearestNameTest {

  private static final List<String> KNOWN =
      List.of(
          "num_leaves", "num_threads", "rank", "world_size", "spark.collectives.timeout", "größe");

  @ParameterizedTest
  @CsvSource({
    "num_leafs, num_leaves",
    "numLeaves, num_leaves",
    "num_laeves, num_leaves",
    "rnk, rank",
    "arnk, rank",
    "word-size, world_size",
    "spark.collectives.timout, spark.collectives.timeout",
    "grösse, größe"
  })
  void aMisspeltNameHasTheNameThatWasMeant(String name, String meant) {
    assertThat(NearestName.of(name, KNOWN)).contains(meant);
    assertThat(NearestName.question(name, KNOWN)).isEqualTo(". Did you mean " + meant + "?");
  }

  @ParameterizedTest
  @CsvSource({"class_weight", "gloo", "x", "spark.collectives.port", "''"})
  void aNameThatIsNearNoneHasNone(String name) {
    assertThat(NearestName.of(name, KNOWN)).isEmpty();
    assertThat(NearestName.question(name, KNOWN)).isEmpty();
  }

  @Test
  void ofTwoNamesThatAreEquallyNearTheFirstOfTheAlphabetIsTaken() {
    assertThat(NearestName.of("bat", Set.of("cat", "bar", "hat"))).contains("bar");
  }
}
