package org.sparkcollectives.ddp;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.io.InputStream;
import java.util.ArrayList;
import java.util.List;

/** Reads tables of numbers that PyTorch gave. */
final class Table {

  private Table() {}

  /** Returns the cases of a table. */
  static List<JsonNode> cases(String name) {
    try (InputStream in = Table.class.getResourceAsStream(name + ".json")) {
      List<JsonNode> cases = new ArrayList<>();
      new ObjectMapper().readTree(in).forEach(cases::add);
      return cases;
    } catch (IOException e) {
      throw new AssertionError(e);
    }
  }

  /** Returns an array of numbers, among them NaN and infinities as text. */
  static float[] floats(JsonNode array) {
    float[] values = new float[array.size()];
    for (int i = 0; i < values.length; i++) {
      values[i] = Float.parseFloat(array.get(i).asText());
    }
    return values;
  }

  static long[] longs(JsonNode array) {
    long[] values = new long[array.size()];
    for (int i = 0; i < values.length; i++) {
      values[i] = array.get(i).asLong();
    }
    return values;
  }
}
