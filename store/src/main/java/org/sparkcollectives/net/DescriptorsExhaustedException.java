package org.sparkcollectives.net;

import io.netty.channel.ChannelException;
import java.io.IOException;
import java.io.UncheckedIOException;

/**
 * Thrown when this process, or its host, has no file descriptor left for a socket or file. The
 * message has the limit, where it is known, and what to do.
 */
public final class DescriptorsExhaustedException extends UncheckedIOException {

  private static final String OF_PROCESS = "Too many open files";
  private static final String OF_HOST = OF_PROCESS + " in system";

  private DescriptorsExhaustedException(String message, IOException cause) {
    super(message, cause);
  }

  /**
   * Returns an exception that says so if {@code thrown} was caused by a lack of file descriptors,
   * or else {@code thrown} itself.
   */
  public static Throwable explain(Throwable thrown) {
    for (Throwable each = thrown; each != null; each = each.getCause()) {
      if (each instanceof DescriptorsExhaustedException) {
        return each;
      }
      // Neither the JDK nor Netty has a type for it, only the text of the operating system.
      String text = String.valueOf(each.getMessage());
      if ((each instanceof IOException || each instanceof ChannelException)
          && text.contains(OF_PROCESS)) {
        return new DescriptorsExhaustedException(
            text.contains(OF_HOST) ? ofHost() : ofProcess(),
            each instanceof IOException lack ? lack : new IOException(text, each));
      }
    }
    return thrown;
  }

  private static String ofHost() {
    return "the host has no file descriptors left. Raise its limit (sysctl fs.file-max), or end"
        + " other processes that hold many";
  }

  private static String ofProcess() {
    return "the process has no file descriptors left"
        + DescriptorLimit.describe()
        + ". Raise the limit (ulimit -n), run fewer ranks in an executor, or let ranks of a host"
        + " share memory (spark.collectives.transports with heap and shm)";
  }
}
