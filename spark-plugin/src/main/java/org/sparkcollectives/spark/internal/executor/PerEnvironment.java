package org.sparkcollectives.spark.internal.executor;

import java.lang.ref.WeakReference;
import java.util.function.Supplier;

/**
 * Keeps a value for the environment of the application that runs in this JVM, but does not keep the
 * environment: with a local master one application may follow another. For one thread at a time.
 *
 * @param <E> the environment
 * @param <V> the value, which must not hold the environment
 */
final class PerEnvironment<E, V> {

  private WeakReference<E> environment = new WeakReference<>(null);
  private V value;

  /** Returns the value of an environment; the first call for it makes one. */
  V get(E current, Supplier<V> made) {
    if (environment.get() != current) {
      value = made.get();
      environment = new WeakReference<>(current);
    }
    return value;
  }

  /** Returns the newest value, or null. */
  V newest() {
    return value;
  }
}
