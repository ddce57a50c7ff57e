package org.sparkcollectives.examples.digits;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class LineFormatTest {

  private static LineFormat detect(String... lines) {
    return LineFormat.of(LineFormat.Kind.AUTO, List.of(lines), "-1");
  }

  @Test
  void theFirstLinesTellTheFormat() {
    assertThat(detect("1 1:2 3:4")).isInstanceOf(LibsvmFormat.class);
    assertThat(detect("", "-1", "+1 7:0.5 # zeros above")).isInstanceOf(LibsvmFormat.class);
    assertThat(detect("1,2,3")).isInstanceOf(CsvFormat.class);
    assertThat(detect("12:30,2,a", "12:31,3,b")).isInstanceOf(CsvFormat.class);
    assertThat(detect("1;2;3")).isInstanceOf(CsvFormat.class);
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "1 2",
        "1 0:1",
        "1 2:1 2:1",
        "1 3:1 2:1",
        "1 a:1",
        "1 1:x",
        "1 1:",
        "1 1:NaN",
        "1 1:1e999",
        "1 1048577:1",
        "1 99999999999:1",
        "1 qid:3 1:1"
      })
  void aBrokenLibsvmLineIsQuoted(String line) {
    assertThatThrownBy(() -> new LibsvmFormat().parse(line))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageEndingWith("in: " + line);
  }

  @ParameterizedTest
  @CsvSource(
      delimiter = '|',
      value = {
        "1,2       | A line must hold 3 fields, as the first does, but holds 2: 1,2",
        "1,2,3,4   | but holds 4: 1,2,3,4",
        "1,,0      | A number is expected, not ''",
        "1,inf,0   | A number is expected, not 'inf'",
        "1,Infinity,0 | A number is expected, not 'Infinity'",
        "1,2,      | There is no label in: 1,2,",
      })
  void aBrokenCsvLineIsQuoted(String line, String message) {
    LineFormat format = detect("1,2,0");
    assertThatThrownBy(() -> format.parse(line))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining(message);
  }

  @ParameterizedTest
  @ValueSource(strings = {"3", "-4", "colour", "", "1.5"})
  void aLabelColumnThatIsNotThereIsRefused(String column) {
    assertThatThrownBy(() -> CsvFormat.of("1,2,0", column))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining(
            "There is no column " + column + " for the label among the 3 of: 1,2,0");
  }

  @Test
  void aHeaderIsNoSampleWhereverItStands() {
    LineFormat format = detect("a,b,class", "1,2,x");
    assertThat(format.isSample("a,b,class")).isFalse();
    assertThat(format.isSample("1,2,x")).isTrue();
    assertThat(detect("1,2,x").isSample("1,2,x")).as("a class may be a word").isTrue();
  }

  @Test
  void aFieldInQuotesMayContainTheSeparator() {
    LineFormat format = detect("1,2,0");
    LabeledValues row = format.parse("1, \"2\" ,\"rose, red\"");
    assertThat(row.label()).isEqualTo("rose, red");
    assertThat(row.values()).containsExactly(1, 2);
  }

  @Test
  void anEmptyFieldInQuotesIsEmpty() {
    LineFormat format = detect("\"\",\"x1\",\"label\"", "1,2,a");
    assertThat(format.isSample("\"\",\"x1\",\"label\"")).isFalse();
    assertThatThrownBy(() -> format.parse("1,\"\",a"))
        .hasMessageContaining("A number is expected, not ''");
    assertThatThrownBy(() -> format.parse("1,2,\"\"")).hasMessageContaining("There is no label");
  }

  @Test
  void aLongLineIsCutInTheError() {
    String line = "1,".repeat(1000) + "x";
    LineFormat format = detect("1,2,0");
    assertThatThrownBy(() -> format.parse(line))
        .satisfies(e -> assertThat(e.getMessage()).hasSizeLessThan(300).endsWith(" ..."));
  }
}
