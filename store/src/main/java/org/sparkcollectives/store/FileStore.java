package org.sparkcollectives.store;

import java.nio.file.Path;
import java.time.Duration;
import org.sparkcollectives.config.Configuration;

/**
 * A store in a file that several processes share, on one machine or on a file system that all of
 * them mount and that has working file locks.
 *
 * <p>The file is a log of changes. Each process carries out all changes in the order of the log on
 * a table of its own, so that all have the same data; a call that waits looks at the file every few
 * milliseconds. A process that is killed leaves the file intact: what it had written in part is cut
 * off by the next one that writes. What it waited for is forgotten, but if it has arrived at a
 * barrier, that counts.
 *
 * <p>A file that cannot be read any more, as it was damaged or its disk has gone, ends the store
 * for this process: all calls that wait, and all later ones, throw {@link StoreException} with the
 * file, what is wrong, and what to do.
 *
 * <p>The file is removed by the last of {@code worldSize} handles to be closed. A run that was
 * killed leaves it; the next run must use another file, or remove it first.
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
   * Opens the store, and makes the file if it does not exist. Blocks while another process changes
   * the file.
   *
   * @param path a file that exists not yet, or is such a store
   * @param worldSize the number of handles that will be opened in all; once that many were closed,
   *     and none is open, the file is removed. 0 or less: it is never removed
   * @param timeout the default bound of the blocking calls
   * @throws StoreException if the folder does not exist, the file cannot be written, or is not a
   *     store; if another process has it locked for longer than {@code timeout}, or the thread is
   *     interrupted. Then the file does not count this handle
   */
  public FileStore(Path path, int worldSize, Duration timeout) {
    super(timeout);
    this.path = path.toAbsolutePath().normalize();
    this.file = OpenFiles.open(this.path, worldSize, timeout());
  }

  /** The file, as an absolute path. */
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
    OpenFiles.close(file);
  }
}
