package org.sparkcollectives.store;

import java.io.IOException;
import java.nio.channels.FileLock;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;

/**
 * A {@link FileLog} with its lock: what others have written is always read before anything is
 * looked up or written. Once it cannot be read it is broken for good. Not thread-safe, but for
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

  /** Of the file {@code path}, whose entries by others are given to {@code reader}. */
  LockedLog(Path path, Consumer<FileEntry> reader) {
    this.path = path;
    this.reader = reader;
  }

  /** Opens the file if it is not open, and makes it if it does not exist. */
  void open() {
    if (log == null) {
      log = new FileLog(path);
    }
  }

  /** Ends the wait for the file's lock, and all later ones. Any thread may call this. */
  void abandon() {
    abandoned = true;
  }

  /** How many entries were read and written. */
  long entries() {
    return entries;
  }

  /** Why nothing works any more, with the file and what to do; null if all is well. */
  StoreException broken() {
    return broken;
  }

  /** From now on nothing works. */
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
   * its lock until {@link #abandon}.
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
      // What follows must not write after a place that was not read up to.
      unlock();
      throw broken;
    }
  }

  private void lock(boolean toWrite) throws IOException {
    long pause = SHORTEST_PAUSE_NANOS;
    while ((lock = log.tryLock(toWrite)) == null) {
      if (abandoned) {
        throw new StoreException("FileStore " + path + " is locked by another process");
      }
      LockSupport.parkNanos(pause);
      pause = Math.min(pause * 2, LONGEST_PAUSE_NANOS);
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
   * Appends an entry, which {@code reader} is not given. Must have {@linkplain #catchUp caught up}
   * to write.
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

  /** Removes the file. Must have {@linkplain #catchUp caught up} to write. */
  void delete() {
    try {
      log.delete();
    } catch (IOException e) {
      throw new StoreException("FileStore " + path + " cannot be removed: " + e.getMessage(), e);
    }
  }

  void close() {
    if (log != null) {
      log.close();
    }
  }
}
