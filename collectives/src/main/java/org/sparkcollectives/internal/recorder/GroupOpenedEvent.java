package org.sparkcollectives.internal.recorder;

import jdk.jfr.Category;
import jdk.jfr.Description;
import jdk.jfr.Event;
import jdk.jfr.Label;
import jdk.jfr.Name;

/** The event of Java Flight Recorder for a group that a rank has joined. */
@Name("org.sparkcollectives.GroupOpened")
@Label("Group Opened")
@Category("Spark Collectives")
@Description("A rank has joined a group")
final class GroupOpenedEvent extends Event {

  @Label("Group")
  String group;

  @Label("Description")
  String description;

  @Label("Rank")
  int rank;

  @Label("Size")
  int size;
}
