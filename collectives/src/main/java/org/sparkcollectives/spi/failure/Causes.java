package org.sparkcollectives.spi.failure;

import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.Objects;
import java.util.Set;
import java.util.stream.Stream;

/** The causes of an exception, of which a user's may form a circle. */
public final class Causes {

  private Causes() {}

  /** Returns {@code thrown}, its cause, the cause of that, and so on, each once; null has none. */
  public static Stream<Throwable> of(Throwable thrown) {
    Set<Throwable> seen = Collections.newSetFromMap(new IdentityHashMap<>());
    return Stream.iterate(thrown, Objects::nonNull, Throwable::getCause).takeWhile(seen::add);
  }
}
