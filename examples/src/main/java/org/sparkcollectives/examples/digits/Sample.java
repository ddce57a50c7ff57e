package org.sparkcollectives.examples.digits;

import java.io.Serializable;

/** What is to be recognised, as numbers, and which class it is of; classes count from 0. */
record Sample(double[] features, int label) implements Serializable {}
