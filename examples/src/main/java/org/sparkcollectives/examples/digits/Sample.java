package org.sparkcollectives.examples.digits;

import java.io.Serializable;

/** The features of one sample, and the number of its class, from 0. */
record Sample(double[] features, int label) implements Serializable {}
