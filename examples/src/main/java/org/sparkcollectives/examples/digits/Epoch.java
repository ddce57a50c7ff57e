package org.sparkcollectives.examples.digits;

/**
 * The result of an epoch, which rank 0 sends to the driver.
 *
 * @param number which epoch, from 1
 * @param loss the mean cross-entropy of the training samples
 * @param accuracy the share of test samples that are recognised
 */
record Epoch(int number, double loss, double accuracy) {

  /** Returns the epoch as an array, which every JVM can read, whatever its class path. */
  double[] toArray() {
    return new double[] {number, loss, accuracy};
  }

  static Epoch ofArray(double[] values) {
    return new Epoch((int) values[0], values[1], values[2]);
  }
}
