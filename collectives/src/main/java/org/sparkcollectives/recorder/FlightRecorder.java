package org.sparkcollectives.recorder;

import java.util.List;

/** The recent operations of one rank, the newest at the end. May be read at any time. */
public interface FlightRecorder {

  /** A copy of the records that are still there, oldest first. */
  List<FlightRecord> records();
}
