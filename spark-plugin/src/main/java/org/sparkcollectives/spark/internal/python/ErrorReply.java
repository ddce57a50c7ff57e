package org.sparkcollectives.spark.internal.python;

import java.io.PrintWriter;
import java.io.StringWriter;
import org.sparkcollectives.CollectiveException;
import org.sparkcollectives.CollectiveMismatchException;
import org.sparkcollectives.CollectiveTimeoutException;
import org.sparkcollectives.GroupAbortedException;
import org.sparkcollectives.PeerFailedException;
import org.sparkcollectives.TransportException;
import org.sparkcollectives.spark.elastic.RunOverException;
import org.sparkcollectives.store.QueueEmptyException;
import org.sparkcollectives.store.StoreException;
import org.sparkcollectives.store.StoreTimeoutException;

/**
 * Writes an exception for Python: its kind, its message, the stack of its cause, the rank that it
 * names, and the ranks that are missing.
 */
final class ErrorReply {

  private static final int[] NONE = {};

  private ErrorReply() {}

  static void write(Throwable error, Reply reply) {
    reply
        .begin(Reply.FAILED)
        .put(kind(error))
        .put(error.getMessage() == null ? error.toString() : error.getMessage())
        .put(cause(error))
        .put(error instanceof PeerFailedException peer ? peer.failure().rank() : -1)
        .put(error instanceof CollectiveTimeoutException timeout ? timeout.missingRanks() : NONE);
  }

  /** Returns the name of the exception on the Python side. */
  private static String kind(Throwable error) {
    if (error instanceof CollectiveTimeoutException) {
      return "timeout";
    }
    if (error instanceof PeerFailedException) {
      return "peer-failed";
    }
    if (error instanceof GroupAbortedException) {
      return "aborted";
    }
    if (error instanceof CollectiveMismatchException) {
      return "mismatch";
    }
    if (error instanceof TransportException) {
      return "transport";
    }
    if (error instanceof CollectiveException) {
      return "collective";
    }
    if (error instanceof StoreTimeoutException) {
      return "store-timeout";
    }
    if (error instanceof QueueEmptyException) {
      return "queue-empty";
    }
    if (error instanceof StoreException) {
      return "store";
    }
    if (error instanceof RunOverException) {
      return "run-over";
    }
    if (error instanceof IllegalArgumentException) {
      return "argument";
    }
    if (error instanceof IllegalStateException) {
      return "state";
    }
    return "other";
  }

  private static String cause(Throwable error) {
    if (error instanceof PeerFailedException peer) {
      return peer.failure().cause();
    }
    StringWriter text = new StringWriter();
    if (!(error instanceof CollectiveException) && kind(error).equals("other")) {
      error.printStackTrace(new PrintWriter(text));
    } else if (error.getCause() != null) {
      error.getCause().printStackTrace(new PrintWriter(text));
    }
    return text.toString();
  }
}
