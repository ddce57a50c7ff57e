package org.sparkcollectives.spark;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;

/**
 * Checks that the documentation of the settings matches the code. With {@code
 * -Dcollectives.docs.update=true} it writes the page instead.
 */
class ConfigurationPageTest {

  private static final Path PAGE = Path.of("../docs/reference/settings.md");

  private static void isUpToDate(Path file, String expected) throws IOException {
    if (Boolean.getBoolean("collectives.docs.update")) {
      Files.writeString(file, expected);
    }
    assertThat(Files.readString(file))
        .as("%s; run the tests of spark-plugin with -Dcollectives.docs.update=true", file)
        .isEqualTo(expected);
  }

  @Test
  void thePageShowsTheSettingsThatTheCodeDeclares() throws IOException {
    isUpToDate(PAGE, ConfigurationPage.page());
  }
}
