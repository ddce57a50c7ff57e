package org.sparkcollectives.store;

import java.util.Optional;

/** A value, or a reference to one, as the other side sent it. */
final class ReceivedValue implements StoredValue {

  private final byte[] bytes;
  private final boolean isReference;

  ReceivedValue(byte[] bytes, boolean isReference) {
    this.bytes = bytes;
    this.isReference = isReference;
  }

  @Override
  public byte[] bytes() {
    return bytes;
  }

  @Override
  public int size() {
    return bytes.length;
  }

  /** Returns the array itself: nobody else has seen it, so no copy is needed. */
  @Override
  public byte[] toByteArray() {
    return bytes;
  }

  @Override
  public Optional<byte[]> reference() {
    return isReference ? Optional.of(bytes) : Optional.empty();
  }
}
