package org.sparkcollectives.internal.checkpoint;

import java.util.List;
import org.sparkcollectives.spi.tensor.HostTensor;
import org.sparkcollectives.spi.tensor.TensorBytes;
import org.sparkcollectives.store.Store;
import org.sparkcollectives.store.StoreException;

/**
 * The part of one version that one rank has written: a layout, and pieces of bytes.
 *
 * <p>Large state is cut into pieces because stores bound a value, and so that no more than a piece
 * of it is in this JVM's heap a second time.
 */
final class CheckpointPart {

  /**
   * The size of a piece: far below the largest value that Spark's driver takes, and large enough
   * for full speed.
   */
  static final int PIECE_BYTES = 16 << 20;

  private static final String LAYOUT = "layout";

  private final Store store;
  private final int pieceBytes;

  /** Creates a part whose keys are those of {@code store}. */
  CheckpointPart(Store store) {
    this(store, PIECE_BYTES);
  }

  CheckpointPart(Store store, int pieceBytes) {
    this.store = store;
    this.pieceBytes = pieceBytes;
  }

  /** Writes the part. Blocks while the store takes it. */
  void write(List<HostTensor> tensors) {
    TensorBytes bytes = new TensorBytes(tensors);
    byte[] layout = PartLayout.of(tensors).encode();
    int number = 0;
    byte[] piece = bytes.next(pieceBytes);
    while (!bytes.isAtEnd()) {
      store.set(Integer.toString(number++), piece);
      piece = bytes.next(pieceBytes);
    }
    store.multiSet(List.of(Integer.toString(number), LAYOUT), List.of(piece, layout));
  }

  /** Returns the layout of the part. */
  PartLayout layout() {
    return PartLayout.decode(value(LAYOUT));
  }

  /** Overwrites {@code tensors}, which must match the layout. */
  void read(List<HostTensor> tensors) {
    TensorBytes bytes = new TensorBytes(tensors);
    for (int piece = 0; !bytes.isAtEnd(); piece++) {
      String key = Integer.toString(piece);
      byte[] value = value(key);
      int expected = bytes.nextLength(pieceBytes);
      if (value.length != expected) {
        throw new StoreException(
            "Piece " + key + " is of " + value.length + " bytes instead of " + expected);
      }
      bytes.fill(value);
    }
  }

  /**
   * Returns the value of a key, which is checked first because a get would wait for a missing key.
   */
  private byte[] value(String key) {
    if (!store.check(List.of(key))) {
      throw new StoreException("\"" + key + "\" of the checkpoint is not in " + store);
    }
    return store.get(key);
  }

  /** Removes what was written of the part. */
  void remove() {
    store.deleteKeys(store.listKeys());
  }
}
