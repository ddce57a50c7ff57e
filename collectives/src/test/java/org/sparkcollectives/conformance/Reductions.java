package org.sparkcollectives.conformance;

import java.util.LinkedHashMap;
import java.util.Map;
import org.sparkcollectives.DType;

/** Caches the latest results of the model, because successive cases and ranks ask for the same. */
final class Reductions {

  private static final int KEPT = 24;

  private record Key(DType dtype, Reduction reduction, int world, int part, int count) {}

  private static final Map<Key, Expected> RESULTS =
      new LinkedHashMap<>(KEPT, 0.75f, true) {
        @Override
        protected boolean removeEldestEntry(Map.Entry<Key, Expected> eldest) {
          return size() > KEPT;
        }
      };

  private Reductions() {}

  /** Returns the result of {@link Model#reduced(DType, Reduction, int, int, int)}. */
  static Expected of(DType dtype, Reduction reduction, int world, int part, int count) {
    Key key = new Key(dtype, reduction, world, part, count);
    synchronized (RESULTS) {
      Expected result = RESULTS.get(key);
      if (result == null) {
        result = Model.reduced(dtype, reduction, world, part, count);
        RESULTS.put(key, result);
      }
      return result;
    }
  }
}
