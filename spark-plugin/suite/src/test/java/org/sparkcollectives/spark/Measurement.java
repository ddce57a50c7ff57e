package org.sparkcollectives.spark;

import java.io.Serializable;

/** A record of Java as a row. */
record Measurement(String sensor, double value) implements Serializable {}
