package org.sparkcollectives.store;

import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The files of {@link FileStore}s that this process has open, each once. File locks belong to the
 * process: it loses all locks on a file when it closes that file anywhere.
 */
final class OpenFiles {

  private static final Logger LOG = LoggerFactory.getLogger(OpenFiles.class);

  private static final Duration CLOSE_TIMEOUT = Duration.ofSeconds(5);

  /** Guarded by itself, including the counts. */
  private static final Map<Path, OpenFile> FILES = new HashMap<>();

  private OpenFiles() {}

  private static final class OpenFile {

    final FileTable table;
    int handles;

    OpenFile(FileTable table) {
      this.table = table;
    }
  }

  /** Opens a handle on the table in the file {@code path}. Blocks while other processes write. */
  static FileTable open(Path path, int worldSize, Duration timeout) {
    if (Thread.currentThread().isInterrupted()) {
      throw new StoreException("Interrupted before FileStore " + path + " was opened");
    }
    while (true) {
      FileTable table = acquire(path);
      boolean opened = false;
      try {
        opened = table.open(worldSize).await(timeout);
        if (opened) {
          return table;
        }
        // The previous user has just removed the file; the next one is new.
      } finally {
        if (!opened) {
          release(table, path);
        }
      }
    }
  }

  /** Closes a handle. */
  static void close(FileTable table) {
    Path path = table.path();
    boolean interrupted = Thread.interrupted();
    try {
      table.closeHandle().await(CLOSE_TIMEOUT);
    } catch (StoreException e) {
      LOG.warn("Could not note in FileStore {} that a handle was closed; the file stays", path, e);
    } finally {
      if (interrupted) {
        Thread.currentThread().interrupt();
      }
    }
    release(table, path);
  }

  private static FileTable acquire(Path path) {
    synchronized (FILES) {
      OpenFile file = FILES.get(path);
      if (file == null) {
        file = new OpenFile(new FileTable(path));
        file.table.begin();
        FILES.put(path, file);
      }
      file.handles++;
      return file.table;
    }
  }

  private static void release(FileTable table, Path path) {
    synchronized (FILES) {
      OpenFile file = FILES.get(path);
      if (file == null || file.table != table) {
        return;
      }
      file.handles--;
      if (file.handles > 0) {
        return;
      }
      // Closes under the lock, so that nobody opens the file again meanwhile.
      boolean interrupted = Thread.interrupted();
      try {
        table.stop(CLOSE_TIMEOUT);
      } catch (InterruptedException e) {
        interrupted = true;
      } finally {
        FILES.remove(path);
      }
      if (interrupted) {
        Thread.currentThread().interrupt();
      }
    }
  }
}
