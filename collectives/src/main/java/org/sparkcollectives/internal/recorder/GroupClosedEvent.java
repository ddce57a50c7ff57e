package org.sparkcollectives.internal.recorder;

import jdk.jfr.Category;
import jdk.jfr.DataAmount;
import jdk.jfr.Description;
import jdk.jfr.Event;
import jdk.jfr.Label;
import jdk.jfr.Name;

/** The event of Java Flight Recorder for a group that a rank has closed. */
@Name("org.sparkcollectives.GroupClosed")
@Label("Group Closed")
@Category("Spark Collectives")
@Description("A rank has closed a group; sums up its operations")
final class GroupClosedEvent extends Event {

  @Label("Group")
  String group;

  @Label("Rank")
  int rank;

  @Label("Operations")
  @Description("How many have succeeded")
  long operations;

  @Label("Failures")
  @Description("How many operations have failed")
  long failures;

  @Label("Size")
  @Description("The bytes of the operations that have succeeded")
  @DataAmount
  long bytes;
}
