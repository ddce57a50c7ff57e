package org.sparkcollectives.store;

import java.time.Duration;
import java.util.Objects;

/**
 * A handle on a {@link StoreTable} of this process. Several handles may share a table; closing one
 * wakes its own calls and leaves the table as it is.
 */
public class TableStore extends StoreHandle {

  private final StoreTable table;
  private final String description;

  /**
   * Creates a handle on {@code table}.
   *
   * @param description what messages call it
   * @param timeout the default bound of its blocking calls
   */
  public TableStore(StoreTable table, String description, Duration timeout) {
    super(timeout);
    this.table = Objects.requireNonNull(table, "table");
    this.description = Objects.requireNonNull(description, "description");
  }

  @Override
  final PendingReply start(StoreRequest request) {
    // The table keeps the arrays that it is given; the caller keeps its own.
    return TableOperations.start(
        table,
        request.withValues(
            request.values().stream().map(value -> StoredValue.of(value.toByteArray())).toList()));
  }

  final StoreTable table() {
    return table;
  }

  @Override
  final String description() {
    return description;
  }

  @Override
  void release() {}
}
