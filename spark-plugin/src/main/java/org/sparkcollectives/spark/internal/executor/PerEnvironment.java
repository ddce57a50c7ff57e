package org.sparkcollectives.spark.internal.executor;

import java.util.Map;
import java.util.WeakHashMap;
import java.util.function.Supplier;

/**
 * Keeps a value for each environment of the applications that run in this JVM, but keeps no
 * environment: with a local master one application may follow another, while tasks of the first
 * still end. For one thread at a time.
 *
 * @param <E> the environment
 * @param <V> the value, which must not hold the environment when it is no longer used
 */
final class PerEnvironment<E, V> {

  private final Map<E, V> values = new WeakHashMap<>();
  private V newest;

  /** Returns the value of an environment; the first call for it makes one. */
  V get(E environment, Supplier<V> made) {
    V value = values.get(environment);
    if (value == null) {
      value = made.get();
      values.put(environment, value);
      newest = value;
    }
    return value;
  }

  /** Returns the value that was made last, or null. */
  V newest() {
    return newest;
  }
}
