package org.sparkcollectives.internal.group;

import java.time.Duration;
import java.util.Optional;
import java.util.function.Consumer;
import org.sparkcollectives.Failure;
import org.sparkcollectives.FlightRecord;
import org.sparkcollectives.ProcessGroup;

/** A view of a reconfigurable group with another timeout, which follows its changes. */
final class FollowingView extends ForwardingGroup {

  private final ReconfigurableRank group;
  private final Duration timeout;

  FollowingView(ReconfigurableRank group, Duration timeout) {
    this.group = group;
    this.timeout = timeout;
  }

  @Override
  ProcessGroup present() {
    return group.present().withTimeout(timeout);
  }

  @Override
  public String name() {
    return group.name();
  }

  @Override
  public String description() {
    return group.description();
  }

  @Override
  public int rank() {
    return group.rank();
  }

  @Override
  public int size() {
    return group.size();
  }

  @Override
  public ProcessGroup group(String name) {
    return group.group(name);
  }

  @Override
  public Duration timeout() {
    return timeout;
  }

  @Override
  public ProcessGroup withTimeout(Duration other) {
    return group.withTimeout(other);
  }

  @Override
  public void onCompletion(Consumer<FlightRecord> hook) {
    group.onCompletion(hook);
  }

  @Override
  public void setNanCheck(boolean enabled) {
    group.setNanCheck(enabled);
  }

  @Override
  public void enableTiming() {
    group.enableTiming();
  }

  @Override
  public boolean isFailed() {
    return group.isFailed();
  }

  @Override
  public Optional<Failure> failure() {
    return group.failure();
  }

  @Override
  public void abort(Throwable cause) {
    group.abort(cause);
  }

  /** Does nothing: a view owns nothing. */
  @Override
  public void close() {}

  @Override
  public boolean equals(Object other) {
    return group.equals(other instanceof FollowingView that ? that.group : other);
  }

  @Override
  public int hashCode() {
    return group.hashCode();
  }

  @Override
  public String toString() {
    return group.toString();
  }
}
