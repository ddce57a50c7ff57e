package org.sparkcollectives.store;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ThreadLocalRandom;

/**
 * The calls of this process to a file. Used by the file's thread only, except {@link #waiting}.
 *
 * <p>A change is a request in the log, so all processes carry out the same changes in the same
 * order. Reads and waits for keys concern only the process that makes them. A value is taken from a
 * queue by a change that finds it there, never by one that waits; so no value is granted to a
 * process that has died. An arrival at a barrier is a change, because all processes must know who
 * has arrived.
 */
final class FileCalls {

  private final long client = ThreadLocalRandom.current().nextLong();
  private final LockedLog log;
  private final FileContents contents;
  private final List<FileReply> pops = new CopyOnWriteArrayList<>();
  private long lastId;

  FileCalls(LockedLog log, FileContents contents) {
    this.log = log;
    this.contents = contents;
  }

  /** Returns how many calls wait. Any thread may call this. */
  int waiting() {
    return contents.table().waiterCount() + pops.size();
  }

  void carryOut(FileReply reply) {
    if (reply.isDone()) {
      return;
    }
    try {
      start(reply);
    } catch (StoreException | IllegalArgumentException e) {
      reply.fail(e);
    } catch (RuntimeException | Error e) {
      reply.fail(e);
      throw e;
    }
  }

  private void start(FileReply reply) {
    StoreRequest request = reply.request();
    switch (request.operation()) {
      case GET, WAIT, CHECK, COUNT, LIST, QUEUE_LENGTH -> look(reply);
      case QUEUE_POP -> pops.add(reply);
      case QUEUE_POLL -> {
        // If the queue is empty, nothing needs to be written.
        log.catchUp(false);
        if (isEmpty(request.key())) {
          look(reply);
        } else {
          change(reply, request);
        }
      }
      default -> change(reply, request);
    }
  }

  private void look(FileReply reply) {
    log.catchUp(false);
    reply.follow(0, TableOperations.start(contents.table(), reply.request()));
  }

  private void change(FileReply reply, StoreRequest request) {
    log.catchUp(true);
    if (reply.isDone()) {
      // The caller gave up while another process held the file.
      return;
    }
    lastId++;
    reply.follow(lastId, write(request));
  }

  private PendingReply write(StoreRequest request) {
    FileEntry entry = FileEntry.request(client, lastId, request);
    log.write(entry, request.describe());
    return contents.carryOut(entry);
  }

  private boolean isEmpty(String queue) {
    return contents.table().queueLength(queue) == 0;
  }

  /** Takes values for the calls that wait for one, the oldest call first. */
  void takeFromQueues() {
    if (!pops.isEmpty()) {
      log.catchUp(false);
    }
    for (FileReply pop : List.copyOf(pops)) {
      try {
        takeFor(pop);
      } catch (StoreException e) {
        pops.remove(pop);
        pop.fail(e);
      }
    }
  }

  private void takeFor(FileReply pop) {
    StoreRequest request = pop.request();
    if (isEmpty(request.key())) {
      return;
    }
    log.catchUp(true);
    if (isEmpty(request.key())) {
      return;
    }
    pops.remove(pop);
    if (pop.claim()) {
      change(
          pop,
          new StoreRequest(
              StoreOperation.QUEUE_POLL, request.keys(), List.of(), 0, request.timeout()));
    }
  }

  /** Ends a call whose caller no longer waits. */
  void giveUp(FileReply reply, Duration waited) {
    PendingReply inTable = reply.inTable();
    if (inTable == null) {
      if (pops.remove(reply)) {
        reply.fail(PopWaiter.timeout(reply.request().key(), waited));
      }
    } else if (reply.request().operation() == StoreOperation.BARRIER && !inTable.isDone()) {
      withdrawArrival(reply, waited);
    } else {
      inTable.expire(waited);
    }
  }

  /**
   * Writes to the log that a caller has left a barrier; otherwise the other processes would still
   * count it.
   */
  private void withdrawArrival(FileReply reply, Duration waited) {
    try {
      log.catchUp(true);
      lastId++;
      write(new StoreRequest(StoreOperation.EXPIRE, List.of(), List.of(), reply.id(), waited));
    } catch (StoreException e) {
      reply.fail(e);
    }
  }

  /** Fails all waiting calls. */
  void fail(RuntimeException cause) {
    pops.forEach(pop -> pop.fail(cause));
    pops.clear();
    contents.table().fail(cause);
  }
}
