package org.sparkcollectives.store;

import java.util.Optional;

/** A value, or the reference to one, as it came from the other side. */
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

  /** Not copied: nobody else has seen this array. */
  @Override
  public byte[] toByteArray() {
    return bytes;
  }

  @Override
  public Optional<byte[]> reference() {
    return isReference ? Optional.of(bytes) : Optional.empty();
  }
}
