package org.sparkcollectives.internal.recorder;

import jdk.jfr.Category;
import jdk.jfr.Description;
import jdk.jfr.Event;
import jdk.jfr.Label;
import jdk.jfr.Name;
import jdk.jfr.StackTrace;
import org.sparkcollectives.Failure;

/** The event of Java Flight Recorder for a group that has failed, as one of its ranks learns it. */
@Name("org.sparkcollectives.GroupFailed")
@Label("Group Failed")
@Category("Spark Collectives")
@Description("A group has failed, as one of its ranks learns it")
@StackTrace(false)
final class GroupFailedEvent extends Event {

  @Label("Group")
  String group;

  @Label("Rank")
  @Description("The rank that learns it")
  int rank;

  @Label("Failed Rank")
  int failedRank;

  @Label("Failed Rank's Host")
  String failedHost;

  @Label("Failed Rank's Executor")
  String failedExecutor;

  @Label("Kind")
  String kind;

  @Label("Operation")
  @Description("In which the failure was noticed; may be empty")
  String operation;

  @Label("Cause")
  @Description("The first line of what is known of the cause")
  String cause;

  /** Sets what the failure was. */
  void describe(Failure failure) {
    failedRank = failure.rank();
    failedHost = failure.location().host();
    failedExecutor = failure.location().executorId();
    kind = failure.kind().name();
    operation = failure.operation();
    cause = failure.cause().lines().findFirst().orElse("");
  }
}
