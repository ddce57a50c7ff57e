package org.sparkcollectives.store;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.util.Arrays;
import java.util.function.Supplier;

/**
 * Changes of a value that depend on the old value: append and compare-and-set.
 *
 * <p>The bytes are read and made outside of the table's lock, because large ones may be on a disk.
 * If the value is replaced meanwhile, the step is repeated. Thread-safe; blocks only for values
 * that do.
 */
final class ValueUpdates {

  private static final int COMPARED_BYTES = 64 << 10;

  private final StoreTable table;
  private final StoredValue.Factory values;
  private final Guard guard;

  /** Runs a step on the table while that is allowed. */
  interface Guard {

    /** Runs {@code step}, or throws. */
    <T> T run(Supplier<T> step);
  }

  private static final class Always implements Guard {
    @Override
    public <T> T run(Supplier<T> step) {
      return step.get();
    }
  }

  ValueUpdates(StoreTable table, StoredValue.Factory values) {
    this(table, values, new Always());
  }

  /** Creates updates whose steps on the table go through {@code guard}. */
  ValueUpdates(StoreTable table, StoredValue.Factory values, Guard guard) {
    this.table = table;
    this.values = values;
    this.guard = guard;
  }

  /**
   * Replaces the value of {@code key} if it equals {@code expected}, or if {@code expected} is
   * empty and there is no value. The table owns the desired value from now on; if it throws or does
   * not store it, it releases it.
   */
  StoreTable.Exchange compareSet(String key, StoredValue expected, StoredValue desired) {
    try {
      while (true) {
        StoredValue current = guard.run(() -> table.current(key));
        Boolean equal = equal(key, current, expected);
        StoreTable.Exchange done =
            equal == null ? null : guard.run(() -> exchange(key, current, equal, desired));
        if (done != null) {
          if (!done.stored()) {
            desired.released();
          }
          return done;
        }
      }
    } catch (RuntimeException | Error e) {
      desired.released();
      throw e;
    }
  }

  /**
   * Returns whether the values are equal, or null if the current one was replaced while it was
   * read.
   */
  private Boolean equal(String key, StoredValue current, StoredValue expected) {
    if (current == null) {
      return expected.size() == 0;
    }
    try {
      return current.size() == expected.size() && sameBytes(current, expected);
    } catch (ValueGoneException e) {
      if (table.current(key) == current) {
        throw e;
      }
      return null;
    }
  }

  private static boolean sameBytes(StoredValue one, StoredValue other) {
    if (one.reference().isEmpty() && other.reference().isEmpty()) {
      return Arrays.equals(one.bytes(), other.bytes());
    }
    try (InputStream left = one.open();
        InputStream right = other.open()) {
      byte[] ours;
      do {
        ours = left.readNBytes(COMPARED_BYTES);
        if (!Arrays.equals(ours, right.readNBytes(COMPARED_BYTES))) {
          return false;
        }
      } while (ours.length > 0);
      return true;
    } catch (IOException e) {
      throw new UncheckedIOException(e); // Neither memory nor blocks throw this.
    }
  }

  /**
   * Stores {@code desired} if the values were equal. Returns null if {@code current} is no longer
   * the value.
   */
  private StoreTable.Exchange exchange(
      String key, StoredValue current, boolean equal, StoredValue desired) {
    if (!equal) {
      return table.current(key) == current ? new StoreTable.Exchange(false, current) : null;
    }
    return table.replace(key, current, desired) ? new StoreTable.Exchange(true, desired) : null;
  }

  /**
   * Appends to the value of {@code key}, creating it if it does not exist. The table owns the tail
   * from now on, even if it throws.
   *
   * @param tail in memory, or of the kind that the table keeps
   */
  void append(String key, StoredValue tail) {
    boolean appended = false;
    boolean tailIsStored = false;
    try {
      while (!appended) {
        StoredValue current = guard.run(() -> table.current(key));
        StoredValue joined = current == null ? kept(key, tail) : join(key, current, tail);
        appended = joined != null && replace(key, current, joined, tail);
        tailIsStored = appended && joined == tail;
      }
    } finally {
      if (!tailIsStored) {
        tail.released();
      }
    }
  }

  private StoredValue kept(String key, StoredValue tail) {
    return tail.reference().isPresent() ? tail : values.create(key, tail.bytes());
  }

  /**
   * Creates the joined value, or returns null if the current one was replaced while it was read.
   */
  private StoredValue join(String key, StoredValue current, StoredValue tail) {
    if ((long) current.size() + tail.size() > Store.MAX_VALUE_BYTES) {
      throw new StoreException(
          "append to key "
              + KeyText.quote(key)
              + ": "
              + current.size()
              + " + "
              + tail.size()
              + " bytes is more than the largest value, "
              + Store.MAX_VALUE_BYTES
              + " bytes");
    }
    try {
      return values.join(key, current, tail);
    } catch (ValueGoneException e) {
      if (table.current(key) == current) {
        throw e;
      }
      return null;
    }
  }

  private boolean replace(String key, StoredValue current, StoredValue joined, StoredValue tail) {
    boolean replaced = false;
    try {
      replaced = guard.run(() -> table.replace(key, current, joined));
      return replaced;
    } finally {
      if (!replaced && joined != tail) {
        joined.released();
      }
    }
  }
}
