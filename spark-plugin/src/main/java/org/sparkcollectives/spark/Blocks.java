package org.sparkcollectives.spark;

import java.nio.ByteBuffer;
import org.sparkcollectives.store.StoreException;
import org.sparkcollectives.store.ValueGoneException;

/** Where the pieces of large values lie, outside the driver's heap when it is short of memory. */
interface Blocks {

  /**
   * Keeps a piece. May wait for a disk.
   *
   * @param value the number of the value, which no other has had
   * @param piece the number of the piece in it, from 0
   * @param content is this block's from now on
   * @throws StoreException if there is no room
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
