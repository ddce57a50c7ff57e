package org.sparkcollectives.internal.pointtopoint;

import org.sparkcollectives.CollectiveMismatchException;
import org.sparkcollectives.DType;

/**
 * A message that a peer wants to send, as the receiving rank sees it before it matches a receive.
 */
interface OfferedMessage {

  /** Returns the sender's group rank. */
  int source();

  /** Returns the tag. */
  int tag();

  /** Returns the type of the elements. */
  DType dtype();

  /** Returns the number of elements. */
  long count();

  /** Makes the sender send the elements to {@code receive}. Does not block. */
  void accept(PostedReceive receive);

  /** Fails the send, on its rank with the same text and the same calls. Does not block. */
  void refuse(CollectiveMismatchException why);
}
