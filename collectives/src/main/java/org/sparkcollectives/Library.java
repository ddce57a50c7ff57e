package org.sparkcollectives;

/**
 * The implementation of this package's static methods. Names none of its parts, so that a type that
 * needs one part needs no other.
 */
final class Library {

  /** Its name, which keeps this package free of a dependency on it. */
  private static final String IMPLEMENTATION = "org.sparkcollectives.internal.DefaultProvider";

  private static final Object PROVIDER = load();

  private Library() {}

  /** Returns the implementation, of which a caller names the part that it needs. */
  static <P> P as(Class<P> part) {
    return part.cast(PROVIDER);
  }

  private static Object load() {
    try {
      return Class.forName(IMPLEMENTATION, true, Library.class.getClassLoader())
          .getConstructor()
          .newInstance();
    } catch (ReflectiveOperationException e) {
      throw new LinkageError(
          IMPLEMENTATION + " is not in the jar of " + Library.class.getName() + ": is it whole?",
          e);
    }
  }
}
