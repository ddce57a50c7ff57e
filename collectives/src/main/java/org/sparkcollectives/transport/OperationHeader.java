package org.sparkcollectives.transport;

import org.sparkcollectives.DType;
import org.sparkcollectives.OpType;

/**
 * What a rank is doing, as its peers are told with each message of a collective.
 *
 * @param type the operation
 * @param sequenceNumber the operation's number in its group
 * @param dtype the type of the elements; of a barrier, {@link DType#UINT8}
 * @param count the number of elements of the operation as its ranks must agree on it
 */
public record OperationHeader(OpType type, long sequenceNumber, DType dtype, long count) {

  @Override
  public String toString() {
    return type.label() + " #" + sequenceNumber + " (" + dtype.label() + " x " + count + ")";
  }
}
