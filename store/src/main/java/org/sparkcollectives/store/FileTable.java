package org.sparkcollectives.store;

import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.sparkcollectives.config.TimeString;
import org.sparkcollectives.net.LibraryThreads;

/**
 * The copy of the table in a {@link FileLog} that the handles of this process share which were
 * opened by the same path.
 *
 * <p>One thread does everything that touches the file, because interrupting a user's thread would
 * close the file's channel. While calls wait, the thread reads what others have written; the longer
 * nothing comes, the more rarely it reads. {@link FileCalls} carries out the calls.
 */
final class FileTable {

  private static final Logger LOG = LoggerFactory.getLogger(FileTable.class);

  private static final Duration CLOSE_TIMEOUT = Duration.ofSeconds(5);
  private static final long SHORTEST_PAUSE_NANOS = TimeUnit.MILLISECONDS.toNanos(1);
  private static final long LONGEST_PAUSE_NANOS = TimeUnit.MILLISECONDS.toNanos(32);

  /** By path; guarded by itself, including the counts of handles. */
  private static final Map<Path, FileTable> OPEN = new HashMap<>();

  private final Path path;
  private final FileContents contents = new FileContents();
  private final LockedLog log;
  private final FileCalls calls;
  private final BlockingQueue<Runnable> commands = new LinkedBlockingQueue<>();
  private final Thread thread;
  private int handles;

  /** Whether the file was removed or is damaged, so that later handles need another table. */
  private volatile boolean over;

  // Used by the file's thread only.
  private int worldSize;
  private boolean stopped;

  private FileTable(Path path) {
    this.path = path;
    this.log = new LockedLog(path, contents::replay);
    this.calls = new FileCalls(log, contents);
    this.thread =
        LibraryThreads.named("spark-collectives-file-store-" + path.getFileName())
            .newThread(this::run);
  }

  /** Opens a handle on the table in the file {@code path}. Blocks while other processes write. */
  static FileTable open(Path path, int worldSize, Deadline deadline) {
    if (Thread.currentThread().isInterrupted()) {
      throw new StoreException("Interrupted before FileStore " + path + " was opened");
    }
    do {
      FileTable table = acquire(path);
      boolean opened = false;
      try {
        opened = table.note(opening -> table.opened(opening, worldSize)).await(deadline);
        if (opened) {
          return table;
        }
        // Its last user has just removed the file, or was killed before it could; the next is new.
      } finally {
        if (!opened) {
          table.release(deadline);
        }
      }
    } while (!deadline.isOver());
    throw new StoreException(
        "FileStore "
            + path
            + " was removed by others each time that it was opened, for "
            + TimeString.format(deadline.total()));
  }

  private static FileTable acquire(Path path) {
    synchronized (OPEN) {
      FileTable table = OPEN.get(path);
      if (table == null || table.over) {
        table = new FileTable(path);
        table.thread.start();
        OPEN.put(path, table);
      }
      table.handles++;
      return table;
    }
  }

  /** Closes a handle; the last of all handles removes the file. Blocks for seconds at the most. */
  void close() {
    Deadline deadline = Deadline.after(CLOSE_TIMEOUT);
    boolean interrupted = Thread.interrupted();
    try {
      note(this::closed).await(deadline);
    } catch (StoreException e) {
      LOG.warn("Could not note in FileStore {} that a handle was closed; the file stays", path, e);
    } finally {
      if (interrupted) {
        Thread.currentThread().interrupt();
      }
    }
    release(deadline);
  }

  private void release(Deadline deadline) {
    synchronized (OPEN) {
      handles--;
      if (handles > 0) {
        return;
      }
      OPEN.remove(path, this);
    }
    // The thread stops waiting for the file's lock, carries out the earlier commands, and ends.
    log.abandon();
    commands.add(() -> stopped = true);
    boolean interrupted = Thread.interrupted();
    try {
      thread.join(Math.min(CLOSE_TIMEOUT.toMillis(), deadline.left().toMillis()));
    } catch (InterruptedException e) {
      interrupted = true;
    }
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
  }

  private HandleNote note(Predicate<HandleNote> action) {
    HandleNote note = new HandleNote(path);
    commands.add(
        () -> {
          try {
            note.complete(action.test(note));
          } catch (RuntimeException | Error e) {
            note.fail(e);
          }
        });
    return note;
  }

  StoreTable table() {
    return contents.table();
  }

  /** Returns how many calls of this process wait. */
  int waiterCount() {
    return calls.waiting();
  }

  /** Starts {@code request}. Does not block. */
  PendingReply start(StoreRequest request) {
    FileReply reply =
        new FileReply(
            request, (givenUp, waited) -> commands.add(() -> calls.giveUp(givenUp, waited)));
    commands.add(() -> calls.carryOut(reply));
    return reply;
  }

  // Runs on the file's thread.

  private void run() {
    long pause = SHORTEST_PAUSE_NANOS;
    while (!stopped) {
      Runnable command = next(pause);
      long entriesBefore = log.entries();
      try {
        if (command == null) {
          log.catchUp(false);
        }
        for (; command != null; command = commands.poll()) {
          command.run();
        }
        calls.takeFromQueues();
      } catch (RuntimeException | Error e) {
        log.breakDown(e);
      } finally {
        log.unlock();
      }
      if (log.broken() != null) {
        over = true;
        calls.fail(log.broken());
      }
      boolean quiet = log.entries() == entriesBefore;
      pause = quiet ? Math.min(pause * 2, LONGEST_PAUSE_NANOS) : SHORTEST_PAUSE_NANOS;
    }
    contents.table().close();
    try {
      log.close();
    } catch (StoreException e) {
      LOG.warn("FileStore {} stays open in this process", path, e);
    }
  }

  /** Returns the next command, or null once it is time to look at the file. */
  private Runnable next(long pause) {
    try {
      return calls.waiting() == 0 ? commands.take() : commands.poll(pause, TimeUnit.NANOSECONDS);
    } catch (InterruptedException e) {
      throw new AssertionError("nobody interrupts this thread", e);
    }
  }

  /** Writes a new handle into the file. Returns false if the file has been removed. */
  private boolean opened(HandleNote opening, int handlesInAll) {
    log.open();
    log.catchUp(true);
    if (contents.isRemoved()) {
      over = true;
      // Whoever wrote so may have been killed before it removed the file.
      log.remove(FileLog::deleteIfStillThere);
      return false;
    }
    if (!opening.claim()) {
      return false;
    }
    worldSize = handlesInAll;
    write(FileEntry.Kind.OPENED);
    return true;
  }

  /** Writes the end of a handle into the file, and removes the file after the last handle. */
  private boolean closed(HandleNote closing) {
    log.catchUp(true);
    if (!closing.claim()) {
      return false;
    }
    if (worldSize > 0 && contents.isLastHandle(worldSize)) {
      // One entry says both, so that no kill comes between.
      write(FileEntry.Kind.REMOVED);
      over = true;
      log.remove(FileLog::delete);
    } else {
      write(FileEntry.Kind.CLOSED);
    }
    return true;
  }

  private void write(FileEntry.Kind kind) {
    FileEntry entry = FileEntry.of(kind);
    log.write(entry, "That a handle is " + kind.name().toLowerCase(Locale.ROOT));
    contents.carryOut(entry);
  }
}
