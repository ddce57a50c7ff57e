package org.sparkcollectives.spark.internal.driver;

import java.nio.ByteBuffer;
import org.sparkcollectives.store.StoreException;
import org.sparkcollectives.store.ValueGoneException;

/** Stores the pieces of large values, outside the driver's heap when that is short of memory. */
interface Blocks {

  /**
   * Stores a piece. May wait for a disk.
   *
   * @param value the number of the value, which no other value has had
   * @param piece the number of the piece in it, from 0
   * @param content owned by this block from now on
   * @throws StoreException if there is no space
   */
  void put(long value, int piece, ByteBuffer content);

  /**
   * Returns the bytes of a piece. May wait for a disk.
   *
   * @throws ValueGoneException if the value was removed
   */
  byte[] read(long value, int piece);

  /** Removes all pieces of a value. Does not wait. */
  void remove(long value);
}
