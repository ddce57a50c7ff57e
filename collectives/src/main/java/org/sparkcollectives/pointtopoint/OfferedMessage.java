package org.sparkcollectives.pointtopoint;

import org.sparkcollectives.CollectiveMismatchException;
import org.sparkcollectives.DType;

/**
 * A message that a peer wants to send, as the receiving rank sees it before it matches a receive.
 */
interface OfferedMessage {

  /** The sender's group rank. */
  int source();

  /** The tag. */
  int tag();

  /** The type of the elements. */
  DType dtype();

  /** The number of elements. */
  long count();

  /** Has the elements brought to {@code receive}. Does not block. */
  void accept(PostedReceive receive);

  /** Fails the send, at its rank with the same text and the same calls. Does not block. */
  void refuse(CollectiveMismatchException why);
}
