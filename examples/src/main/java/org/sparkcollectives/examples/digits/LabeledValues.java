package org.sparkcollectives.examples.digits;

/**
 * A line of a data file.
 *
 * @param label the name of the class, as the file has it
 * @param values the features; those behind the last are zero
 */
record LabeledValues(String label, double[] values) {}
