package org.sparkcollectives.store;

import java.nio.file.Path;
import java.time.Duration;
import org.sparkcollectives.config.Configuration;

/**
 * A store in a file that several processes share, on one machine or on a file system that all of
 * them mount and that has working file locks.
 *
 * <p>The file is a log of changes. Each process carries out all changes on a table of its own in
 * the order of the log, so all processes have the same data. While calls wait, the process looks at
 * the file every few milliseconds. A process that is killed leaves the file intact: the next writer
 * cuts off an entry that it wrote only in part. Its waiting calls are forgotten, but its arrival at
 * a barrier counts.
 *
 * <p>If the file can no longer be read, because it is damaged or its disk is gone, the store ends
 * for this process: all waiting calls and all later ones throw {@link StoreException} with the
 * file, what is wrong, and what to do.
 *
 * <p>The last of {@code worldSize} handles to be closed removes the file. A run that was killed
 * before leaves it; the next run must use another file, or remove it first.
 *
 * <p>A process may reach the file by several paths, and with several copies of this class. It must
 * not open the file by other means while a store is open: a POSIX file lock belongs to the process,
 * which loses it when it closes the file anywhere.
 *
 * <p>The semantics are those of c10d's {@code FileStore}, with queues, and with {@link #deleteKey}
 * and {@link #numKeys} exact.
 */
public final class FileStore extends StoreHandle {

  private final FileTable file;
  private final Path path;

  /**
   * Opens the store, with the default timeout.
   *
   * @see #FileStore(Path, int, Duration)
   */
  public FileStore(Path path, int worldSize) {
    this(path, worldSize, Configuration.ofSystemProperties().get(StoreConfiguration.TIMEOUT));
  }

  /**
   * Opens the store, and creates the file if it does not exist. Blocks while another process
   * changes the file.
   *
   * @param path a file that does not exist yet, or that holds such a store
   * @param worldSize the number of handles that will be opened in all. Once that many have been
   *     closed and none is open, the file is removed; with 0 or less it is never removed
   * @param timeout the default bound of the blocking calls
   * @throws StoreException if the folder does not exist, if the file cannot be written or is not a
   *     store, if another process keeps it locked for longer than {@code timeout}, or if the thread
   *     is interrupted. The file then does not count this handle
   */
  public FileStore(Path path, int worldSize, Duration timeout) {
    super(timeout);
    this.path = path.toAbsolutePath().normalize();
    this.file = FileTable.open(this.path, worldSize, Deadline.after(timeout()));
  }

  /** Returns the file, as an absolute path. */
  public Path path() {
    return path;
  }

  @Override
  PendingReply start(StoreRequest request) {
    return file.start(request);
  }

  StoreTable table() {
    return file.table();
  }

  int waiterCount() {
    return file.waiterCount();
  }

  @Override
  String description() {
    return "FileStore " + path;
  }

  @Override
  void release() {
    file.close();
  }
}
