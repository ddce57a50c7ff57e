package org.sparkcollectives.testing;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.io.InputStream;
import java.util.ArrayList;
import java.util.List;

/** Reads the tables of values that were measured on PyTorch, in {@code src/test/resources}. */
public final class TrainingTable {

  private TrainingTable() {}

  /** Returns the cases of a table, such as {@code join}. */
  public static List<JsonNode> cases(String name) throws IOException {
    try (InputStream in = TrainingTable.class.getResourceAsStream("/training/" + name + ".json")) {
      List<JsonNode> cases = new ArrayList<>();
      new ObjectMapper().readTree(in).forEach(cases::add);
      return cases;
    }
  }

  /** Returns an array of numbers. */
  public static double[] doubles(JsonNode array) {
    double[] values = new double[array.size()];
    for (int i = 0; i < values.length; i++) {
      values[i] = array.get(i).doubleValue();
    }
    return values;
  }

  /** Returns an array of whole numbers. */
  public static long[] longs(JsonNode array) {
    long[] values = new long[array.size()];
    for (int i = 0; i < values.length; i++) {
      values[i] = array.get(i).longValue();
    }
    return values;
  }
}
