package org.sparkcollectives.spark.internal.python;

import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.sparkcollectives.GroupOptions;
import org.sparkcollectives.ProcessGroup;
import org.sparkcollectives.ReconfigurableGroup;
import org.sparkcollectives.Work;
import org.sparkcollectives.spark.internal.elastic.QuorumReplica;

/** The resources of the bridge for one task attempt, until the task ends. Thread-safe. */
final class TaskBridge {

  private static final Logger LOG = LoggerFactory.getLogger(TaskBridge.class);

  /**
   * The time that a worker's end waits for the task's own report of it. Spark reads the worker's
   * exception, or notices its end, on the task's thread, and reports more.
   */
  private static final long PATIENCE_MILLIS = 100;

  private static final long END_OF_THREADS_MILLIS = 2_000;

  /** A connection of one of the task's workers, which ends with the task. */
  interface Connection {

    /** Closes the connection; its thread sees the end. */
    void close();

    /**
     * Waits until its thread runs no more of its code. Returns false if that is not so by {@code
     * deadlineNanos}.
     */
    boolean awaitEnd(long deadlineNanos);
  }

  private final PythonTask task;
  private final byte[] secret;
  private final Segments segments;
  private final Works works = new Works();
  private final Map<Integer, ProcessGroup> groups = new ConcurrentHashMap<>();
  private final AtomicInteger nextGroup = new AtomicInteger();
  private final Set<Connection> connections = ConcurrentHashMap.newKeySet();
  private final CountDownLatch ended = new CountDownLatch(1);

  /** Held while a worker's thread waits for the other ranks to join. */
  private final Object joining = new Object();

  private volatile ProcessGroup world;
  private int worldId;

  /** The number of world groups that were joined so far; guarded by {@code joining}. */
  private int worlds;

  /** Held while a worker's thread makes a reconfigurable group. */
  private final Object making = new Object();

  /** The number of reconfigurable groups that were made so far; guarded by {@code making}. */
  private int reconfigurables;

  private volatile WorkerReplica replica;

  private volatile boolean failed;
  private boolean closed;

  /**
   * Creates the resources of a running task.
   *
   * @param secret the secret of the task's workers
   * @param folder for tensors for which there is no space in memory
   */
  TaskBridge(PythonTask task, byte[] secret, Supplier<Path> folder) {
    this.task = task;
    this.secret = secret.clone();
    this.segments = new Segments(folder);
  }

  PythonTask task() {
    return task;
  }

  byte[] secret() {
    return secret.clone();
  }

  Segments segments() {
    return segments;
  }

  Works works() {
    return works;
  }

  /**
   * Joins the world group, once for all workers of the task, and returns its number. Joins another
   * if it is closed.
   */
  int join(GroupOptions options) {
    synchronized (joining) {
      if (world == null) {
        world = task.join(options, worlds + 1);
        worlds++;
        worldId = add(world);
      }
      return worldId;
    }
  }

  /**
   * Makes another group whose members are chosen later, and returns its number. Blocks for a round
   * trip to the driver.
   */
  int reconfigurable(GroupOptions options) {
    synchronized (making) {
      int id = add(task.reconfigurable(options, reconfigurables + 1));
      reconfigurables++;
      return id;
    }
  }

  /**
   * Changes the members of a group. Its memory and its works until then end with the members
   * before, as when a group is closed; after a change that fails, they stay.
   *
   * @param change blocks until all members have called it
   * @throws IllegalArgumentException if its members cannot be changed
   */
  void reconfigure(int id, Consumer<ReconfigurableGroup> change) {
    if (!(group(id) instanceof ReconfigurableGroup group)) {
      throw new IllegalArgumentException("The members of group " + id + " cannot be changed");
    }
    List<Segment> before = segments.of(group);
    change.accept(group);
    works.release(id);
    before.forEach(each -> segments.release(each, !failed));
  }

  /** Begins the replica of this task, see {@link PythonTask#replica}; once. */
  WorkerReplica replica(String run, int checkpointInterval) {
    synchronized (making) {
      if (replica == null) {
        QuorumReplica begun = task.replica(run, checkpointInterval);
        replica = new WorkerReplica(begun, add(begun.participants()));
      }
      return replica;
    }
  }

  /**
   * Returns the replica of this task.
   *
   * @throws IllegalStateException if it has not begun
   */
  WorkerReplica replica() {
    WorkerReplica begun = replica;
    if (begun == null) {
      throw new IllegalStateException("The task has begun no replica of an elastic stage");
    }
    return begun;
  }

  /** Ends the memory and the works of a group whose members were others until now. */
  void changed(int id) {
    works.release(id);
    segments.release(group(id), !failed);
  }

  private List<ReconfigurableGroup> reconfigurableGroups() {
    return groups.values().stream()
        .filter(ReconfigurableGroup.class::isInstance)
        .map(ReconfigurableGroup.class::cast)
        .toList();
  }

  /** Gives a group a number, and returns it. */
  int add(ProcessGroup group) {
    int id = nextGroup.getAndIncrement();
    groups.put(id, group);
    return id;
  }

  /**
   * Returns a group that is open.
   *
   * @throws IllegalStateException if there is none of this number
   */
  ProcessGroup group(int id) {
    ProcessGroup group = groups.get(id);
    if (group == null) {
      throw new IllegalStateException(
          nextGroup.get() == 0
              ? "The task has not joined its world group yet: call init_process_group() first"
              : "Group " + id + " of this task is closed");
    }
    return group;
  }

  /** Keeps a work of a group until its end is queried, and returns its number. */
  long keep(int id, Work work) {
    long number = works.keep(id, work);
    if (!groups.containsKey(id)) {
      // The group was closed meanwhile, perhaps before the work was there to be released.
      works.release(id);
    }
    return number;
  }

  /** Allocates memory for tensors of a group, see {@link Segments#allocate}. */
  Segment allocate(int id, long bytes, boolean mapped) throws IOException {
    return unlessClosed(id, segments.allocate(group(id), bytes, mapped));
  }

  /** Allocates memory for the workers of a group, see {@link Segments#allocateForRanks}. */
  Segment allocateForRanks(int id, long bytes) throws IOException {
    return unlessClosed(id, segments.allocateForRanks(group(id), bytes));
  }

  private Segment unlessClosed(int id, Segment segment) {
    if (!groups.containsKey(id)) {
      // The group was closed meanwhile, perhaps before the segment was there to be released.
      segments.release(segment, true);
      group(id);
    }
    return segment;
  }

  /**
   * Leaves a group, and releases its memory and its works, of which only the ends are kept. For the
   * world group, it leaves the reconfigurable ones, too, and releases those of the whole task. Does
   * nothing if the group is closed already. Blocks as {@link ProcessGroup#close()} does.
   */
  void closeGroup(int id) {
    ProcessGroup group = groups.get(id);
    if (group == null) {
      return;
    }
    boolean last = group.equals(world);
    try {
      if (last) {
        reconfigurableGroups().forEach(ProcessGroup::close);
      }
    } finally {
      close(id, group, last);
    }
  }

  private void close(int id, ProcessGroup group, boolean last) {
    try {
      group.close();
    } finally {
      if (last) {
        world = null;
        groups.clear();
        works.releaseAll();
        segments.close(!failed);
      } else {
        groups.remove(id);
        works.release(id);
        segments.release(group, !failed);
      }
    }
  }

  /** Leaves the memory of the task's tensors to the garbage collector from now on. */
  void operationFailed() {
    failed = true;
  }

  /** Adds a connection. Returns false once the task has ended. */
  synchronized boolean add(Connection connection) {
    return !closed && connections.add(connection);
  }

  void remove(Connection connection) {
    connections.remove(connection);
  }

  /** Handles the end of a worker that has not said that it is done with the groups. */
  void workerLost(int process) {
    try {
      if (ended.await(PATIENCE_MILLIS, TimeUnit.MILLISECONDS)) {
        return;
      }
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
    }
    failed = true;
    IllegalStateException cause =
        new IllegalStateException(
            "the Python worker of rank " + task.rank() + " (process " + process + ") ended");
    ProcessGroup joined = world;
    if (joined != null) {
      joined.abort(cause);
    }
    reconfigurableGroups().forEach(each -> each.abort(cause));
  }

  /** Marks the task, and with it its groups, as failed. */
  void taskFailed() {
    failed = true;
    ended.countDown();
  }

  /**
   * Ends the task: closes all connections and releases all memory. Its groups are closed already.
   * Blocks until the threads of its connections have ended, for two seconds at the most.
   */
  void close() {
    ended.countDown();
    List<Connection> open;
    synchronized (this) {
      closed = true;
      open = List.copyOf(connections);
    }
    open.forEach(Connection::close);
    boolean quiet = true;
    long deadline = System.nanoTime() + TimeUnit.MILLISECONDS.toNanos(END_OF_THREADS_MILLIS);
    for (Connection each : open) {
      quiet &= each.awaitEnd(deadline);
    }
    if (!quiet) {
      LOG.warn(
          "Task {} has ended, but a thread that serves its Python worker has not within {} ms",
          task.attempt(),
          END_OF_THREADS_MILLIS);
    }
    groups.clear();
    segments.close(!failed);
  }
}
