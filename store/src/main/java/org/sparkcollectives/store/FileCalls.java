package org.sparkcollectives.store;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ThreadLocalRandom;

/**
 * The calls of this process to a file. For the thread of the file, but for {@link #waiting}.
 *
 * <p>Changes are requests in the log, so that all processes carry out the same ones in the same
 * order. Reads and waits for keys concern only the process that makes them. A value is taken from a
 * queue by a change that finds it there, never by one that waits, so that no value can be granted
 * to a process that has died. Barriers are changes, as all must know who has arrived.
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

  /** How many wait. Any thread may ask. */
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
        // No need to write where there is nothing to take.
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
      // Given up while another process had the file.
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

  /** Takes for the calls that wait for a value, the first come first. */
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

  /** Ends a call whose caller waits no longer. */
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

  /** All processes must know, or they would count it on. */
  private void withdrawArrival(FileReply reply, Duration waited) {
    try {
      log.catchUp(true);
      lastId++;
      write(new StoreRequest(StoreOperation.EXPIRE, List.of(), List.of(), reply.id(), waited));
    } catch (StoreException e) {
      reply.fail(e);
    }
  }

  /** Fails all that wait. */
  void fail(RuntimeException cause) {
    pops.forEach(pop -> pop.fail(cause));
    pops.clear();
    contents.table().fail(cause);
  }
}
