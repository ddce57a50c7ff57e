package org.sparkcollectives.spark;

import java.io.Serializable;
import java.util.List;
import java.util.function.IntUnaryOperator;

/** A row of a Java user: a record with a list, and a lambda. */
public record JavaRow(int id, String name, List<Integer> more) {

  interface Step extends IntUnaryOperator, Serializable {}

  public static JavaRow of(int id) {
    return new JavaRow(id, "row " + id, List.of(id, id + 1));
  }

  static Step plus(int amount) {
    return value -> value + amount;
  }
}
