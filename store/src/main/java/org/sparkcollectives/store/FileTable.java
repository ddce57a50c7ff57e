package org.sparkcollectives.store;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileLock;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;

/**
 * This process's copy of the table in a {@link FileLog}, shared by all its handles on that file.
 *
 * <p>One thread does all that touches the file: a thread of the user may be interrupted, which
 * would close the file's channel, and closing any channel of a file gives up all locks that the
 * process has on it. While calls wait, that thread reads what others have written, more rarely the
 * longer nothing comes.
 *
 * <p>Changes are requests in the log, so that all processes carry out the same ones in the same
 * order. Reads and waits for keys concern only the process that makes them. A value is taken from a
 * queue by a change that finds it there, never by one that waits, so that no value can be granted
 * to a process that has died. Barriers are changes, as all must know who has arrived.
 */
final class FileTable {

  private static final long SHORTEST_PAUSE_NANOS = TimeUnit.MILLISECONDS.toNanos(1);
  private static final long LONGEST_PAUSE_NANOS = TimeUnit.MILLISECONDS.toNanos(32);

  /** What an entry of the log tells. */
  private enum Kind {
    REQUEST,
    OPENED,
    CLOSED,
    REMOVED
  }

  private final Path path;
  private final StoreTable table = new StoreTable();
  private final long client = ThreadLocalRandom.current().nextLong();
  private final AtomicLong ids = new AtomicLong();
  private final BlockingQueue<Runnable> commands = new LinkedBlockingQueue<>();
  private final Map<Arrival, PendingReply> barriers = new HashMap<>();
  private final List<FileReply> pops = new CopyOnWriteArrayList<>();
  private final Thread thread;

  private FileLog log;
  private FileLock lock;
  private boolean lockedToWrite;
  private long openHandles;
  private long closedHandles;
  private int worldSize;
  private boolean removed;
  private boolean changed;
  private RuntimeException broken;
  private boolean stopped;
  private int waiting;
  private volatile boolean abandoned;

  private record Arrival(long client, long id) {}

  FileTable(Path path) {
    this.path = path;
    this.thread = new Thread(this::run, "spark-collectives-file-store-" + path.getFileName());
    thread.setDaemon(true);
  }

  void begin() {
    thread.start();
  }

  /** Gives up waiting for the file's lock, carries out what was asked for before, and ends. */
  void stop(Duration timeout) throws InterruptedException {
    abandoned = true;
    commands.add(() -> stopped = true);
    thread.join(timeout.toMillis());
  }

  /**
   * Notes a new handle in the file.
   *
   * @return false if the file has been removed since this table was read from it
   */
  CompletableFuture<Boolean> open(int handlesInAll) {
    return command(() -> opened(handlesInAll));
  }

  /** Notes the end of a handle, and removes the file after the last one. */
  CompletableFuture<Boolean> closeHandle() {
    return command(this::closed);
  }

  Path path() {
    return path;
  }

  StoreTable table() {
    return table;
  }

  /** The number of calls of this process that wait. */
  int waiterCount() {
    return table.waiterCount() + pops.size();
  }

  /** Starts {@code request}; does not block. */
  PendingReply start(StoreRequest request) {
    FileReply reply = new FileReply(ids.incrementAndGet(), request);
    commands.add(() -> carryOut(reply));
    return reply;
  }

  // On the thread of the file.

  private void run() {
    long pause = SHORTEST_PAUSE_NANOS;
    while (!stopped) {
      Runnable command = next(pause);
      changed = false;
      try {
        if (command == null) {
          catchUp(false);
        }
        for (; command != null; command = commands.poll()) {
          command.run();
        }
        takeFromQueues();
      } catch (IOException | RuntimeException | Error e) {
        breakDown(e);
      } finally {
        unlock();
      }
      waiting = waiterCount();
      pause = changed ? SHORTEST_PAUSE_NANOS : Math.min(pause * 2, LONGEST_PAUSE_NANOS);
    }
    table.close();
    if (log != null) {
      log.close();
    }
  }

  /** The next command; null once it is time to look at the file. */
  private Runnable next(long pause) {
    try {
      return waiting == 0 ? commands.take() : commands.poll(pause, TimeUnit.NANOSECONDS);
    } catch (InterruptedException e) {
      throw new AssertionError("nobody interrupts this thread", e);
    }
  }

  /** From now on every call fails. */
  private void breakDown(Throwable cause) {
    if (broken == null) {
      broken = cause instanceof StoreException known ? known : lost(cause);
      pops.forEach(pop -> pop.fail(broken));
      pops.clear();
      table.close();
    }
  }

  private StoreConnectionException lost(Throwable cause) {
    return new StoreConnectionException("FileStore " + path + " is lost: " + cause, cause);
  }

  private CompletableFuture<Boolean> command(FileCommand action) {
    CompletableFuture<Boolean> done = new CompletableFuture<>();
    commands.add(
        () -> {
          try {
            done.complete(action.run());
          } catch (IOException e) {
            done.completeExceptionally(lost(e));
          } catch (RuntimeException e) {
            done.completeExceptionally(e);
          }
        });
    return done;
  }

  private interface FileCommand {
    boolean run() throws IOException;
  }

  private boolean opened(int handlesInAll) throws IOException {
    if (log == null) {
      log = new FileLog(path);
    }
    catchUp(true);
    if (removed) {
      return false;
    }
    worldSize = handlesInAll;
    append(Kind.OPENED, 0, new byte[0]);
    openHandles++;
    return true;
  }

  private boolean closed() throws IOException {
    catchUp(true);
    append(Kind.CLOSED, 0, new byte[0]);
    openHandles--;
    closedHandles++;
    if (worldSize > 0 && openHandles == 0 && closedHandles >= worldSize) {
      append(Kind.REMOVED, 0, new byte[0]);
      removed = true;
      log.delete();
    }
    return removed;
  }

  private void carryOut(FileReply reply) {
    if (reply.isDone()) {
      return;
    }
    if (broken != null) {
      reply.fail(broken);
      return;
    }
    try {
      StoreOperation operation = reply.request.operation();
      switch (operation) {
        case GET, WAIT, CHECK, COUNT, LIST, QUEUE_LENGTH -> {
          catchUp(false);
          reply.follow(TableOperations.start(table, reply.request));
        }
        case QUEUE_POP -> {
          catchUp(false);
          pops.add(reply);
        }
        case QUEUE_POLL -> {
          // No need to write where there is nothing to take.
          catchUp(false);
          if (table.queueLength(reply.request.key()) == 0) {
            reply.follow(TableOperations.start(table, reply.request));
          } else {
            change(reply, reply.request);
          }
        }
        default -> change(reply, reply.request);
      }
    } catch (StoreException | IllegalArgumentException | IllegalStateException e) {
      reply.fail(e);
    } catch (IOException e) {
      reply.fail(new StoreException(reply.request.describe() + " at FileStore " + path, e));
    }
  }

  /** Takes for the calls that wait for a value, the first come first. */
  private void takeFromQueues() {
    for (FileReply pop : List.copyOf(pops)) {
      try {
        if (isEmpty(pop)) {
          continue;
        }
        catchUp(true);
        if (isEmpty(pop)) {
          continue;
        }
        pops.remove(pop);
        if (pop.claim()) {
          List<String> keys = pop.request.keys();
          change(
              pop,
              new StoreRequest(
                  StoreOperation.QUEUE_POLL, keys, List.of(), 0, pop.request.timeout()));
        }
      } catch (StoreException e) {
        pops.remove(pop);
        pop.fail(e);
      } catch (IOException e) {
        pops.remove(pop);
        pop.fail(lost(e));
      }
    }
  }

  private boolean isEmpty(FileReply pop) {
    return table.queueLength(pop.request.key()) == 0;
  }

  private void change(FileReply reply, StoreRequest request) throws IOException {
    catchUp(true);
    byte[] message = StoreCodec.encode(reply.id, request);
    append(Kind.REQUEST, client, message);
    // As the others read it: the table then owns no array of the caller.
    reply.follow(replay(client, ByteBuffer.wrap(message)));
  }

  private void append(Kind kind, long writer, byte[] message) throws IOException {
    ByteBuffer head =
        ByteBuffer.allocate(1 + Long.BYTES).put((byte) kind.ordinal()).putLong(writer).flip();
    log.append(head, ByteBuffer.wrap(message));
    changed = true;
  }

  /** Locks the file until the next {@link #unlock}, and carries out what others have written. */
  private void catchUp(boolean toWrite) throws IOException {
    if (broken != null) {
      throw broken;
    }
    if (lock != null && (lockedToWrite || !toWrite)) {
      return;
    }
    unlock();
    long pause = SHORTEST_PAUSE_NANOS / 16;
    while ((lock = log.tryLock(toWrite)) == null) {
      if (abandoned) {
        throw new StoreException("FileStore " + path + " is locked by another process");
      }
      LockSupport.parkNanos(pause);
      pause = Math.min(pause * 2, SHORTEST_PAUSE_NANOS);
    }
    lockedToWrite = toWrite;
    boolean read = false;
    try {
      log.read(this::read);
      read = true;
    } finally {
      if (!read) {
        // What follows in this batch must not write after a place that was not read up to.
        unlock();
      }
    }
  }

  private void unlock() {
    if (lock != null) {
      try {
        lock.release();
      } catch (IOException e) {
        breakDown(e);
      }
      lock = null;
    }
  }

  private void read(ByteBuffer entry) {
    changed = true;
    int kind = entry.get();
    long writer = entry.getLong();
    switch (Kind.values()[kind]) {
      case REQUEST -> {
        try {
          replay(writer, entry);
        } catch (StoreException | IllegalArgumentException e) {
          // Its caller was told.
        }
      }
      case OPENED -> openHandles++;
      case CLOSED -> {
        openHandles--;
        closedHandles++;
      }
      case REMOVED -> removed = true;
    }
  }

  private PendingReply replay(long writer, ByteBuffer message) {
    StoreCodec.IdentifiedRequest decoded = StoreCodec.decodeRequest(message);
    StoreRequest request = decoded.request();
    if (request.operation() == StoreOperation.EXPIRE) {
      PendingReply arrival = barriers.get(new Arrival(writer, request.number()));
      if (arrival != null) {
        arrival.expire(request.timeout());
      }
      return TableOperations.done(StoreReply.DONE);
    }
    PendingReply pending = TableOperations.start(table, request);
    if (request.operation() == StoreOperation.BARRIER && !pending.isDone()) {
      Arrival arrival = new Arrival(writer, decoded.id());
      barriers.put(arrival, pending);
      pending.whenComplete((reply, failure) -> barriers.remove(arrival));
    }
    return pending;
  }

  /** A call of this process. */
  private final class FileReply extends PendingReply {

    private final long id;
    private final StoreRequest request;

    /** What the table has made of it; only the thread of the file looks. */
    private PendingReply inTable;

    private boolean claimed;

    FileReply(long id, StoreRequest request) {
      this.id = id;
      this.request = request;
    }

    void follow(PendingReply pending) {
      inTable = pending;
      pending.whenComplete(
          (reply, failure) -> {
            if (failure == null) {
              complete(reply);
            } else {
              super.completeExceptionally(failure);
            }
          });
    }

    /** Whether the caller still waits; from now on he gets what the thread of the file says. */
    synchronized boolean claim() {
      claimed = !isDone();
      return claimed;
    }

    void fail(RuntimeException failure) {
      super.completeExceptionally(failure);
    }

    @Override
    void expire(Duration waited) {
      commands.add(() -> giveUp(waited));
    }

    @Override
    public synchronized boolean completeExceptionally(Throwable failure) {
      boolean completed = !claimed && super.completeExceptionally(failure);
      if (completed) {
        commands.add(() -> giveUp(Duration.ZERO));
      }
      return completed;
    }

    @Override
    public synchronized boolean cancel(boolean mayInterruptIfRunning) {
      boolean cancelled = !claimed && super.cancel(mayInterruptIfRunning);
      if (cancelled) {
        commands.add(() -> giveUp(Duration.ZERO));
      }
      return cancelled;
    }

    private void giveUp(Duration waited) {
      if (request.operation() == StoreOperation.BARRIER && inTable != null && !inTable.isDone()) {
        withdrawArrival(waited);
      } else if (inTable != null) {
        inTable.expire(waited);
      } else if (pops.remove(this)) {
        fail(PopWaiter.timeout(request.key(), waited));
      }
    }

    /** All processes must know, or they would count it on. */
    private void withdrawArrival(Duration waited) {
      try {
        catchUp(true);
        StoreRequest expire =
            new StoreRequest(StoreOperation.EXPIRE, List.of(), List.of(), id, waited);
        byte[] message = StoreCodec.encode(ids.incrementAndGet(), expire);
        append(Kind.REQUEST, client, message);
        replay(client, ByteBuffer.wrap(message));
      } catch (IOException e) {
        fail(new StoreException(request.describe() + " at FileStore " + path, e));
      }
    }
  }
}
