package org.sparkcollectives.examples.digits;

import java.nio.ByteBuffer;

/**
 * How an epoch went, on its way from rank 0 to the driver.
 *
 * @param number which epoch, from 1
 * @param loss the mean cross-entropy of the training samples
 * @param accuracy the share of test samples that are recognised
 */
record Epoch(int number, double loss, double accuracy) {

  byte[] toBytes() {
    return ByteBuffer.allocate(Integer.BYTES + 2 * Double.BYTES)
        .putInt(number)
        .putDouble(loss)
        .putDouble(accuracy)
        .array();
  }

  static Epoch ofBytes(byte[] bytes) {
    ByteBuffer in = ByteBuffer.wrap(bytes);
    return new Epoch(in.getInt(), in.getDouble(), in.getDouble());
  }
}
