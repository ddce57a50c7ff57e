package org.sparkcollectives.store;

import java.nio.file.Path;
import java.time.Duration;
import java.util.Locale;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;

/**
 * The copy of the table in a {@link FileLog} that this process keeps for all its handles on that
 * file.
 *
 * <p>One thread does everything that touches the file, for two reasons. Interrupting a user's
 * thread would close the file's channel, and closing any channel of a file releases all locks that
 * the process has on it. While calls wait, the thread reads what others have written; the longer
 * nothing comes, the more rarely it reads. {@link FileCalls} carries out the calls.
 */
final class FileTable {

  private static final long SHORTEST_PAUSE_NANOS = TimeUnit.MILLISECONDS.toNanos(1);
  private static final long LONGEST_PAUSE_NANOS = TimeUnit.MILLISECONDS.toNanos(32);

  private final Path path;
  private final FileContents contents = new FileContents();
  private final LockedLog log;
  private final FileCalls calls;
  private final BlockingQueue<Runnable> commands = new LinkedBlockingQueue<>();
  private final Thread thread;

  // Used by the file's thread only.
  private int worldSize;
  private boolean stopped;

  FileTable(Path path) {
    this.path = path;
    this.log = new LockedLog(path, contents::replay);
    this.calls = new FileCalls(log, contents);
    this.thread = new Thread(this::run, "spark-collectives-file-store-" + path.getFileName());
    thread.setDaemon(true);
  }

  void begin() {
    thread.start();
  }

  /** Stops waiting for the file's lock, carries out the earlier commands, and ends the thread. */
  void stop(Duration timeout) throws InterruptedException {
    log.abandon();
    commands.add(() -> stopped = true);
    thread.join(timeout.toMillis());
  }

  Path path() {
    return path;
  }

  StoreTable table() {
    return contents.table();
  }

  /** Returns how many calls of this process wait. */
  int waiterCount() {
    return calls.waiting();
  }

  /**
   * Writes a new handle into the file. The answer is false if the file has been removed since this
   * table was read from it.
   */
  HandleNote open(int handlesInAll) {
    return note(opening -> opened(opening, handlesInAll));
  }

  /** Writes the end of a handle into the file, and removes the file after the last handle. */
  HandleNote closeHandle() {
    return note(this::closed);
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
        calls.fail(log.broken());
      }
      boolean quiet = log.entries() == entriesBefore;
      pause = quiet ? Math.min(pause * 2, LONGEST_PAUSE_NANOS) : SHORTEST_PAUSE_NANOS;
    }
    contents.table().close();
    log.close();
  }

  /** Returns the next command, or null once it is time to look at the file. */
  private Runnable next(long pause) {
    try {
      return calls.waiting() == 0 ? commands.take() : commands.poll(pause, TimeUnit.NANOSECONDS);
    } catch (InterruptedException e) {
      throw new AssertionError("nobody interrupts this thread", e);
    }
  }

  private boolean opened(HandleNote opening, int handlesInAll) {
    log.open();
    log.catchUp(true);
    if (contents.isRemoved() || !opening.claim()) {
      return false;
    }
    worldSize = handlesInAll;
    write(FileEntry.Kind.OPENED);
    return true;
  }

  private boolean closed(HandleNote closing) {
    log.catchUp(true);
    if (!closing.claim()) {
      return false;
    }
    write(FileEntry.Kind.CLOSED);
    if (worldSize > 0 && contents.isLeftByAll(worldSize)) {
      write(FileEntry.Kind.REMOVED);
      log.delete();
    }
    return true;
  }

  private void write(FileEntry.Kind kind) {
    FileEntry entry = FileEntry.of(kind);
    log.write(entry, "That a handle is " + kind.name().toLowerCase(Locale.ROOT));
    contents.carryOut(entry);
  }
}
