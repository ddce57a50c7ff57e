package org.sparkcollectives.object;

/**
 * Why a stream of frames has ended in the middle, where nobody knows what other ranks have got.
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
