package org.sparkcollectives.internal.object;

/**
 * The reason why a stream of frames ended in the middle. What other ranks have received of it is
 * not known.
 *
 * @param cause what an operation of the group has thrown
 */
record BrokenStream(Throwable cause) {

  void rethrow() {
    if (cause instanceof Error error) {
      throw error;
    }
    throw (RuntimeException) cause;
  }
}
