package org.sparkcollectives.internal.recorder;

import jdk.jfr.Category;
import jdk.jfr.DataAmount;
import jdk.jfr.Description;
import jdk.jfr.Event;
import jdk.jfr.Label;
import jdk.jfr.Name;
import jdk.jfr.StackTrace;
import jdk.jfr.Timespan;
import org.sparkcollectives.spi.OperationSpec;

/**
 * The event of Java Flight Recorder for an operation of a rank, from its call to its end. It exists
 * only while a recording wants it.
 */
@Name("org.sparkcollectives.Operation")
@Label("Collective Operation")
@Category("Spark Collectives")
@Description("A collective or message of one rank, from its call to its end")
@StackTrace(false) // The thread that ends the operation is one of the library.
final class OperationEvent extends Event {

  /**
   * Tells whether a recording wants these events, which costs one call of an empty method if not.
   */
  private static final OperationEvent ANY = new OperationEvent();

  @Label("Group")
  String group;

  @Label("Rank")
  int rank;

  @Label("Operation")
  String operation;

  @Label("Sequence Number")
  @Description("Counts the collectives, or the messages, of the group from 0")
  long sequenceNumber;

  @Label("Element Type")
  String dtype;

  @Label("Size")
  @Description("The larger one of what the rank gave and got")
  @DataAmount
  long bytes;

  @Label("Details")
  @Description("The reduction, root or tag")
  String detail;

  @Label("Peer")
  @Description("The other rank of a message, else -1")
  int peer;

  @Label("Algorithm")
  String algorithm;

  @Label("Label")
  @Description("The name that the program gave to the operation; may be empty")
  String label;

  @Label("Calling Thread")
  String caller;

  @Label("Time in Queue")
  @Description("From the call until the operation began to run on this rank")
  @Timespan(Timespan.NANOSECONDS)
  long queued;

  @Label("Succeeded")
  boolean succeeded;

  /** Begins an event if a recording wants it; else returns null. */
  static OperationEvent begun() {
    if (!ANY.isEnabled()) {
      return null;
    }
    OperationEvent event = new OperationEvent();
    event.begin();
    return event;
  }

  /** Sets what the call was. */
  void describe(OperationSpec spec) {
    operation = spec.type().label();
    dtype = spec.dtype() == null ? "" : spec.dtype().label();
    bytes =
        spec.dtype() == null
            ? 0
            : Math.max(spec.inputCount(), spec.outputCount()) * spec.dtype().bytes();
    detail = spec.details();
  }
}
