package org.sparkcollectives;

import java.util.ServiceLoader;

/** The implementation of this package's static methods. */
final class Library {

  static final CollectivesProvider PROVIDER = load();

  private Library() {}

  private static CollectivesProvider load() {
    return ServiceLoader.load(CollectivesProvider.class, Library.class.getClassLoader())
        .findFirst()
        .orElseThrow(
            () ->
                new IllegalStateException(
                    "META-INF/services/"
                        + CollectivesProvider.class.getName()
                        + " is not on the class path: the jar was repackaged without it. Merge the"
                        + " service files when jars are merged, as Maven's"
                        + " ServicesResourceTransformer does"));
  }
}
