package org.sparkcollectives;

/** The implementation of this package's static methods. */
final class Library {

  /** Its name, which keeps this package free of a dependency on it. */
  private static final String IMPLEMENTATION = "org.sparkcollectives.internal.DefaultProvider";

  static final CollectivesProvider PROVIDER = load();

  private Library() {}

  private static CollectivesProvider load() {
    try {
      return Class.forName(IMPLEMENTATION, true, Library.class.getClassLoader())
          .asSubclass(CollectivesProvider.class)
          .getConstructor()
          .newInstance();
    } catch (ReflectiveOperationException e) {
      throw new LinkageError(
          IMPLEMENTATION + " is not in the jar of " + Library.class.getName() + ": is it whole?",
          e);
    }
  }
}
