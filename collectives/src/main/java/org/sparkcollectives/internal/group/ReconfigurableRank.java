package org.sparkcollectives.internal.group;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.sparkcollectives.Failure;
import org.sparkcollectives.FlightRecord;
import org.sparkcollectives.GroupOptions;
import org.sparkcollectives.ProcessGroup;
import org.sparkcollectives.ReconfigurableGroup;
import org.sparkcollectives.internal.liveness.BackgroundCalls;
import org.sparkcollectives.internal.work.RunAll;
import org.sparkcollectives.net.LibraryThreads;

/** This rank's part of a group that changes: the group of the moment, and what outlives it. */
final class ReconfigurableRank extends ForwardingGroup implements ReconfigurableGroup {

  private static final Logger LOG = LoggerFactory.getLogger(ReconfigurableRank.class);

  /** How much longer than its timeout the close of a group may take. */
  private static final Duration REST_OF_CLOSE = Duration.ofSeconds(30);

  /**
   * What one change replaces, all at once.
   *
   * @param group null before the first change
   */
  private record State(ReconfigureHandle handle, int size, ProcessGroup group) {}

  private final GroupAssembly assembly;
  private final GroupOptions options;
  private final Runnable afterClose;
  private final BackgroundCalls closing;
  private final List<Consumer<FlightRecord>> hooks = new ArrayList<>();
  private Boolean nanCheck;
  private boolean timing;
  private volatile State state;
  private Reconfiguration underWay;
  private boolean closed;

  /**
   * Creates the rank, without a group.
   *
   * @param options with a name and every setting resolved
   * @param afterClose run once when this is closed
   */
  ReconfigurableRank(
      GroupAssembly assembly, int rank, int size, GroupOptions options, Runnable afterClose) {
    this.assembly = assembly;
    this.options = options;
    this.afterClose = afterClose;
    this.state = new State(ReconfigureHandle.create(rank), size, null);
    this.closing =
        new BackgroundCalls(
            call -> LibraryThreads.start("collectives-reconfigured-close", call),
            LOG,
            "Rank " + rank + " of group \"" + options.name() + "\"");
  }

  @Override
  ProcessGroup present() {
    ProcessGroup group = state.group();
    if (group != null) {
      return group;
    }
    synchronized (this) {
      requireNotClosed();
    }
    throw new IllegalStateException(
        this + " has no members yet: call reconfigure() on all of them before the first operation");
  }

  @Override
  public String handle() {
    return state.handle().toString();
  }

  @Override
  public void reconfigure(long uuid, List<String> handles, Duration timeout) {
    ReconfigureHandle self = state.handle();
    ReconfigureArguments arguments = new ReconfigureArguments(name(), self, uuid);
    reconfigure(uuid, self, arguments, arguments.ordered(handles), timeout);
  }

  @Override
  public void reconfigure(long uuid, Set<String> handles, Duration timeout) {
    ReconfigureHandle self = state.handle();
    ReconfigureArguments arguments = new ReconfigureArguments(name(), self, uuid);
    reconfigure(uuid, self, arguments, arguments.sorted(handles), timeout);
  }

  private void reconfigure(
      long uuid,
      ReconfigureHandle self,
      ReconfigureArguments arguments,
      List<ReconfigureHandle> members,
      Duration timeout) {
    GroupOptions.defaults().withTimeout(timeout); // refuses what is no timeout
    Reconfiguration change = begin(uuid, self);
    try {
      RankGroup made = change.make(members, self, arguments, options, timeout);
      ProcessGroup group = RankProcessGroup.owning(made);
      ProcessGroup before = state.group();
      try {
        replace(change, new State(self.in(uuid, group.rank()), group.size(), group));
      } catch (RuntimeException | Error e) {
        group.abort(e);
        group.close();
        throw e;
      }
      // Others may still be in it, or gone: nobody waits for its end.
      if (before != null && !closing.run(before::close)) {
        before.close();
      }
    } finally {
      synchronized (this) {
        underWay = null;
      }
      change.finish();
    }
  }

  private synchronized Reconfiguration begin(long uuid, ReconfigureHandle self) {
    requireNotClosed();
    if (underWay != null || !self.equals(state.handle())) {
      throw new IllegalStateException(
          this + " is being reconfigured by another thread: one change at a time");
    }
    underWay = new Reconfiguration(assembly, name(), uuid);
    return underWay;
  }

  /**
   * Puts a new group in the place of the present one.
   *
   * @throws RuntimeException why the change was ended meanwhile
   */
  private synchronized void replace(Reconfiguration change, State next) {
    if (change.ended() != null) {
      throw change.ended();
    }
    hooks.forEach(next.group()::onCompletion);
    if (nanCheck != null) {
      next.group().setNanCheck(nanCheck);
    }
    if (timing) {
      next.group().enableTiming();
    }
    state = next;
  }

  private void requireNotClosed() {
    if (closed) {
      throw new IllegalStateException(
          "Group \"" + name() + "\" is closed on rank " + rank() + ": make another");
    }
  }

  @Override
  public String name() {
    return options.name();
  }

  @Override
  public String description() {
    return options.description();
  }

  @Override
  public int rank() {
    return state.handle().rank();
  }

  @Override
  public int size() {
    return state.size();
  }

  @Override
  public Duration timeout() {
    return options.timeout().orElseThrow();
  }

  @Override
  public ProcessGroup withTimeout(Duration timeout) {
    GroupOptions.defaults().withTimeout(timeout); // refuses what is no timeout
    return new FollowingView(this, timeout);
  }

  /** Returns this group for its own name, else what the present group has under the name. */
  @Override
  public ProcessGroup group(String name) {
    return name.equals(name()) ? withTimeout(timeout()) : present().group(name);
  }

  @Override
  public synchronized void onCompletion(Consumer<FlightRecord> hook) {
    Objects.requireNonNull(hook, "hook");
    requireNotClosed();
    if (state.group() != null) {
      state.group().onCompletion(hook);
    }
    hooks.add(hook);
  }

  @Override
  public synchronized void setNanCheck(boolean enabled) {
    requireNotClosed();
    if (state.group() != null) {
      state.group().setNanCheck(enabled);
    }
    nanCheck = enabled;
  }

  @Override
  public synchronized void enableTiming() {
    requireNotClosed();
    if (state.group() != null) {
      state.group().enableTiming();
    }
    timing = true;
  }

  @Override
  public boolean isFailed() {
    ProcessGroup group = state.group();
    return group != null && group.isFailed();
  }

  @Override
  public Optional<Failure> failure() {
    ProcessGroup group = state.group();
    return group == null ? Optional.empty() : group.failure();
  }

  @Override
  public void abort(Throwable cause) {
    Objects.requireNonNull(cause, "cause");
    synchronized (this) {
      if (underWay != null) {
        underWay.end(Reconfiguration.aborted(name(), rank(), cause));
      }
    }
    ProcessGroup group = state.group();
    if (group != null) {
      group.abort(cause);
    }
  }

  @Override
  public void close() {
    Reconfiguration change;
    synchronized (this) {
      if (closed) {
        return;
      }
      closed = true;
      change = underWay;
      if (change != null) {
        change.end(
            new IllegalStateException(
                "Group \"" + name() + "\" was closed on rank " + rank() + " during reconfigure"));
      }
    }
    RunAll.of(
        () -> {
          if (change != null && !change.await(closeLimit())) {
            LOG.warn("{} is closed while another thread is still in reconfigure", this);
          }
        },
        () -> {
          if (state.group() != null) {
            state.group().close();
          }
        },
        this::awaitGroupsBefore,
        afterClose);
  }

  private Duration closeLimit() {
    return timeout().plus(REST_OF_CLOSE);
  }

  private void awaitGroupsBefore() {
    if (!closing.await(closeLimit())) {
      LOG.warn("{} is closed while a group before its last one still closes", this);
    }
  }

  @Override
  public boolean equals(Object other) {
    return other instanceof FollowingView ? other.equals(this) : this == other;
  }

  @Override
  public int hashCode() {
    return System.identityHashCode(this);
  }

  @Override
  public String toString() {
    return "ReconfigurableGroup(\"" + name() + "\", rank " + rank() + " of " + size() + ")";
  }
}
