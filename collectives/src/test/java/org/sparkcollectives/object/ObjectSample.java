package org.sparkcollectives.object;

import java.util.function.Function;

/**
 * An object that codecs must carry with its whole state.
 *
 * @param name what the test calls it
 * @param behaviour what the object does, as a value to compare; equality alone does not see a
 *     comparator or a bound
 */
public record ObjectSample(String name, Object object, Function<Object, Object> behaviour) {

  /** Creates a sample whose behaviour may change it. */
  @SuppressWarnings("unchecked")
  public static <T> ObjectSample of(String name, T object, Function<? super T, ?> behaviour) {
    return new ObjectSample(name, object, copy -> behaviour.apply((T) copy));
  }

  @Override
  public String toString() {
    return name;
  }
}
