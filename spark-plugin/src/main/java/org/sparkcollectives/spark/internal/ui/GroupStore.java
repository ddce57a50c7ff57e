package org.sparkcollectives.spark.internal.ui;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.List;
import java.util.NoSuchElementException;
import java.util.Optional;
import org.apache.spark.util.kvstore.KVStore;
import org.apache.spark.util.kvstore.KVStoreIterator;
import org.apache.spark.util.kvstore.KVStoreView;

/**
 * The rows of this library in Spark's store of what it shows, which may be in memory or on disk.
 */
final class GroupStore {

  private final KVStore store;

  GroupStore(KVStore store) {
    this.store = store;
  }

  Optional<GroupRow> group(long id) {
    return read(GroupRow.class, id);
  }

  Optional<GroupDetails> details(long id) {
    return read(GroupDetails.class, id);
  }

  Optional<RunRow> run(long id) {
    return read(RunRow.class, id);
  }

  /** Returns all calls of {@code ElasticStage}, the newest first. */
  List<RunRow> runs() {
    return all(view(RunRow.class).reverse());
  }

  Optional<LibraryRow> library() {
    return read(LibraryRow.class, LibraryRow.KEY);
  }

  /** Returns all groups, the newest first. */
  List<GroupRow> groups() {
    return all(view(GroupRow.class).reverse());
  }

  /** Returns whether the application has used this library. */
  boolean isUsed() {
    return count(GroupRow.class) > 0 || library().isPresent();
  }

  void write(Object row) {
    try {
      store.write(row);
    } catch (Exception e) {
      throw failure(e);
    }
  }

  /** Removes groups until there are at most {@code most}: first those that ended first. */
  void retain(int most) {
    long surplus = count(GroupRow.class) - most;
    if (surplus <= 0) {
      return;
    }
    for (GroupRow row : all(view(GroupRow.class).index(GroupRow.RETENTION).max(surplus))) {
      delete(GroupRow.class, row.id);
      delete(GroupDetails.class, row.id);
    }
  }

  /** Removes runs until there are at most {@code most}: first those that began first. */
  void retainRuns(int most) {
    long surplus = count(RunRow.class) - most;
    if (surplus > 0) {
      all(view(RunRow.class).max(surplus)).forEach(each -> delete(RunRow.class, each.id));
    }
  }

  private <T> Optional<T> read(Class<T> type, Object key) {
    try {
      return Optional.of(store.read(type, key));
    } catch (NoSuchElementException e) {
      return Optional.empty();
    } catch (Exception e) {
      throw failure(e);
    }
  }

  private long count(Class<?> type) {
    try {
      return store.count(type);
    } catch (Exception e) {
      throw failure(e);
    }
  }

  private <T> KVStoreView<T> view(Class<T> type) {
    try {
      return store.view(type);
    } catch (Exception e) {
      throw failure(e);
    }
  }

  private static <T> List<T> all(KVStoreView<T> view) {
    List<T> rows = new ArrayList<>();
    try (KVStoreIterator<T> iterator = view.closeableIterator()) {
      while (iterator.hasNext()) {
        rows.add(iterator.next());
      }
    } catch (Exception e) {
      throw failure(e);
    }
    return rows;
  }

  private void delete(Class<?> type, Object key) {
    try {
      store.delete(type, key);
    } catch (NoSuchElementException e) {
      // It is gone already.
    } catch (Exception e) {
      throw failure(e);
    }
  }

  private static RuntimeException failure(Exception e) {
    if (e instanceof RuntimeException unchecked) {
      return unchecked;
    }
    if (e instanceof IOException io) {
      return new UncheckedIOException(io);
    }
    return new IllegalStateException(e);
  }
}
