package org.sparkcollectives.ml.internal.rows;

/** The meaning of an instance's label and weight. */
public enum Labels {
  /** The index of a class; the weight is a weight. */
  CLASSES,
  /** A real number; the weight is a weight. */
  VALUES,
  /** The time of an event; the weight is 1 if the event was seen, and no weight. */
  TIMES
}
