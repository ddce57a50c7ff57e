package org.sparkcollectives.ddp;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URL;
import java.util.List;
import java.util.stream.IntStream;
import java.util.stream.StreamSupport;
import org.sparkcollectives.DType;

/** Reads the tables of what PyTorch does. */
final class Tables {

  private Tables() {}

  /** Returns the cases of a table. */
  static List<JsonNode> of(String name) {
    URL table = Tables.class.getResource("/training/" + name + ".json");
    try {
      return list(new ObjectMapper().readTree(table));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  static List<JsonNode> list(JsonNode array) {
    return StreamSupport.stream(array.spliterator(), false).toList();
  }

  static long[] longs(JsonNode array) {
    return list(array).stream().mapToLong(JsonNode::asLong).toArray();
  }

  /** Returns numbers, among them NaN and infinities as text. */
  static float[] floats(JsonNode array) {
    float[] values = new float[array.size()];
    for (int i = 0; i < values.length; i++) {
      values[i] = Float.parseFloat(array.get(i).asText());
    }
    return values;
  }

  static int[] ints(JsonNode array) {
    return list(array).stream().mapToInt(JsonNode::asInt).toArray();
  }

  static List<int[]> intLists(JsonNode arrays) {
    return list(arrays).stream().map(Tables::ints).toList();
  }

  static DType[] types(JsonNode array) {
    return list(array).stream().map(type -> DType.valueOf(type.asText())).toArray(DType[]::new);
  }

  /** Returns truth values, as many as {@code count}; all false if there are none in the table. */
  static boolean[] booleans(JsonNode array, int count) {
    boolean[] all = new boolean[count];
    IntStream.range(0, array.size()).forEach(i -> all[i] = array.get(i).asBoolean());
    return all;
  }

  /** Returns the size in bytes of each of some tensors. */
  static long[] bytes(long[] counts, DType[] types) {
    return IntStream.range(0, counts.length).mapToLong(i -> counts[i] * types[i].bytes()).toArray();
  }
}
