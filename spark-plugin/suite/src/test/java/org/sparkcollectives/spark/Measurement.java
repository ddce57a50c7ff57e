package org.sparkcollectives.spark;

import java.io.Serializable;

/** A Java record as a row. */
record Measurement(String sensor, double value) implements Serializable {}
