package org.sparkcollectives.object;

import java.io.InputStream;
import java.io.OutputStream;

/**
 * Turns objects into bytes and back. All ranks of a group use codecs that understand each other.
 *
 * <p>Used by several threads at once, and by a thread that is within {@link #write} already: the
 * objects of other ranks may arrive while this rank's is being written.
 */
public interface ObjectCodec {

  /**
   * Writes an object in such a way that {@link #read} finds its end without the stream's. Must pass
   * on what the stream throws.
   *
   * @param object may be null
   * @throws Exception if it cannot be written; how much of it was, does not matter
   */
  void write(Object object, OutputStream stream) throws Exception;

  /**
   * Reads an object that another rank's codec has written.
   *
   * @throws Exception if it cannot be read; how much of it was, does not matter
   */
  Object read(InputStream stream) throws Exception;
}
