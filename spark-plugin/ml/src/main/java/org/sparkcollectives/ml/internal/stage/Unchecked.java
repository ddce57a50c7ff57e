package org.sparkcollectives.ml.internal.stage;

/**
 * Throws any exception without declaring it, as Spark does; wrapping it would hide the first cause.
 */
final class Unchecked {

  private Unchecked() {}

  static RuntimeException of(Exception e) {
    return Unchecked.<RuntimeException>thrown(e);
  }

  @SuppressWarnings({"unchecked", "TypeParameterUnusedInFormals"})
  private static <E extends Exception> E thrown(Exception e) throws E {
    throw (E) e;
  }
}
