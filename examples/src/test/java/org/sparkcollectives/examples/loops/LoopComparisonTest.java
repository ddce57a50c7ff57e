package org.sparkcollectives.examples.loops;

import static org.assertj.core.api.Assertions.assertThat;

import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;
import picocli.CommandLine;

/** Tests that each loop gives the same both ways, which the program checks itself. */
class LoopComparisonTest {

  @Test
  void theLoopsOfTheDriverAndOfAStageAgree() {
    PrintStream before = System.out;
    ByteArrayOutputStream table = new ByteArrayOutputStream();
    System.setOut(new PrintStream(table, true, StandardCharsets.UTF_8));
    try {
      int status =
          new CommandLine(new LoopComparison())
              .execute(
                  "--master=local[3]",
                  "--ranks=3",
                  "--rows=200",
                  "--features=5",
                  "--iterations=4",
                  "--rounds=1");
      assertThat(status).isZero();
    } finally {
      System.setOut(before);
    }
    assertThat(table.toString(StandardCharsets.UTF_8))
        .contains("| logistic regression, 200 rows, 5 features |")
        .contains("| k-means, 200 rows, 5 features, k = 20 |")
        .contains("| PageRank, 200 pages, 8 links each |");
  }
}
