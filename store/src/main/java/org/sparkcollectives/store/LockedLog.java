package org.sparkcollectives.store;

import java.io.IOException;
import java.nio.channels.FileLock;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;

/**
 * A {@link FileLog} with its lock. Everything that others have written is read before anything is
 * looked up or written. Once the file cannot be read, the log stays broken. Not thread-safe, except
 * {@link #abandon}.
 */
final class LockedLog {

  private static final long LONGEST_PAUSE_NANOS = TimeUnit.MILLISECONDS.toNanos(1);
  private static final long SHORTEST_PAUSE_NANOS = LONGEST_PAUSE_NANOS / 16;

  private final Path path;
  private final Consumer<FileEntry> reader;
  private FileLog log;
  private FileLock lock;
  private boolean lockedToWrite;
  private long entries;
  private StoreException broken;
  private volatile boolean abandoned;

  /**
   * Creates a log of the file {@code path}, which passes the entries of others to {@code reader}.
   */
  LockedLog(Path path, Consumer<FileEntry> reader) {
    this.path = path;
    this.reader = reader;
  }

  /** Opens the file if it is not open, and creates it if it does not exist. */
  void open() {
    if (log == null) {
      log = new FileLog(path);
    }
  }

  /** Ends the wait for the file's lock, and all later ones. Any thread may call this. */
  void abandon() {
    abandoned = true;
  }

  /** Returns how many entries were read and written. */
  long entries() {
    return entries;
  }

  /** Returns why the log no longer works, with the file and what to do, or null if it works. */
  StoreException broken() {
    return broken;
  }

  /** Marks the log as broken; every later call fails. */
  void breakDown(Throwable cause) {
    if (broken == null) {
      broken =
          cause instanceof StoreException known
              ? known
              : new StoreConnectionException(
                  "FileStore " + path + " is lost: " + cause + ". Start all ranks with a new file",
                  cause);
    }
  }

  /**
   * Locks the file until the next {@link #unlock}, and reads what others have written. Waits for
   * the lock until {@link #abandon}.
   */
  void catchUp(boolean toWrite) {
    if (broken != null) {
      throw broken;
    }
    if (lock != null && (lockedToWrite || !toWrite)) {
      return;
    }
    unlock();
    try {
      lock(toWrite);
      log.read(
          entry -> {
            entries++;
            reader.accept(FileEntry.decode(entry));
          });
    } catch (IOException | RuntimeException | Error e) {
      breakDown(e);
      // The caller must not write after a place up to which nothing was read.
      unlock();
      throw broken;
    }
  }

  private void lock(boolean toWrite) throws IOException {
    Backoff backoff = Backoff.between(SHORTEST_PAUSE_NANOS, LONGEST_PAUSE_NANOS);
    while ((lock = log.tryLock(toWrite)) == null) {
      if (abandoned) {
        throw new StoreException(
            "FileStore " + path + " was closed while another process had it locked");
      }
      backoff.pause();
    }
    lockedToWrite = toWrite;
  }

  void unlock() {
    if (lock != null) {
      try {
        lock.release();
      } catch (IOException e) {
        breakDown(e);
      }
      lock = null;
    }
  }

  /**
   * Appends an entry, which is not passed to {@code reader}. The caller must have {@linkplain
   * #catchUp caught up} to write.
   *
   * @param what is written, for messages
   */
  void write(FileEntry entry, String what) {
    try {
      log.append(entry.encode());
    } catch (IOException e) {
      throw new StoreException(
          what + " was not stored, as FileStore " + path + " cannot be written: " + e.getMessage(),
          e);
    }
    entries++;
  }

  /** A way to remove the file. */
  @FunctionalInterface
  interface Removal {
    void of(FileLog log) throws IOException;
  }

  /** Removes the file. The caller must have {@linkplain #catchUp caught up} to write. */
  void remove(Removal removal) {
    try {
      removal.of(log);
    } catch (IOException e) {
      throw new StoreException("FileStore " + path + " cannot be removed: " + e.getMessage(), e);
    }
  }

  /** Closes the file, as soon as this process holds no lock on it by other means. */
  void close() {
    Backoff backoff = Backoff.between(SHORTEST_PAUSE_NANOS, LONGEST_PAUSE_NANOS);
    while (log != null && !log.tryClose()) {
      backoff.pause();
    }
  }
}
