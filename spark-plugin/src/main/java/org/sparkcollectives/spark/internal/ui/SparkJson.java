package org.sparkcollectives.spark.internal.ui;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.lang.reflect.InvocationTargetException;

/** JSON in the type of Spark's JSON library, which is another one in Spark 3.5. */
final class SparkJson {

  private static final ObjectMapper MAPPER = new ObjectMapper();

  private SparkJson() {}

  /** Returns {@code value} as Jackson writes it. */
  static String text(Object value) {
    return MAPPER.valueToTree(value).toString();
  }

  /** Returns {@code value}, as Jackson writes it, in the type that this Spark's pages return. */
  static Object of(Object value) {
    JsonNode json = MAPPER.valueToTree(value);
    try {
      Class<?> methods = Class.forName("org.json4s.jackson.JsonMethods$");
      Object instance = methods.getField("MODULE$").get(null);
      return methods.getMethod("fromJsonNode", JsonNode.class).invoke(instance, json);
    } catch (InvocationTargetException e) {
      throw new IllegalStateException("The page could not be written as JSON", e.getCause());
    } catch (ReflectiveOperationException e) {
      throw new IllegalStateException("This Spark makes JSON in an unknown way", e);
    }
  }
}
