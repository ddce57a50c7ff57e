package org.sparkcollectives.recorder;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.DeserializationFeature;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.ObjectReader;
import com.fasterxml.jackson.databind.ObjectWriter;
import java.io.IOException;
import java.io.UncheckedIOException;

/** Converts JSON to and from maps, lists, strings, numbers, booleans and nulls. */
final class JsonText {

  private static final ObjectReader READER =
      new ObjectMapper()
          .readerFor(Object.class)
          .with(DeserializationFeature.USE_LONG_FOR_INTS)
          .with(DeserializationFeature.FAIL_ON_TRAILING_TOKENS);

  private static final ObjectWriter WRITER = new ObjectMapper().writer();

  private JsonText() {}

  static byte[] write(Object value) {
    try {
      return WRITER.writeValueAsBytes(value);
    } catch (JsonProcessingException e) {
      throw new UncheckedIOException(e);
    }
  }

  /**
   * Returns the value that {@code json} represents.
   *
   * @throws IllegalArgumentException if it is not one value of JSON
   */
  static Object read(byte[] json) {
    try {
      return READER.readValue(json);
    } catch (IOException e) {
      throw new IllegalArgumentException("not JSON: " + e.getMessage(), e);
    }
  }
}
