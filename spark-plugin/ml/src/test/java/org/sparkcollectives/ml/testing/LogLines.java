package org.sparkcollectives.ml.testing;

import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.apache.logging.log4j.Level;
import org.apache.logging.log4j.LogManager;
import org.apache.logging.log4j.core.LogEvent;
import org.apache.logging.log4j.core.Logger;
import org.apache.logging.log4j.core.appender.AbstractAppender;
import org.apache.logging.log4j.core.config.Property;

/**
 * Records the lines that the module logs on the driver while this is open, but for {@link
 * Warnings}: each says that a fit does something else than it was asked to.
 */
public final class LogLines implements AutoCloseable {

  private final List<String> lines = new CopyOnWriteArrayList<>();
  private final Logger logger = (Logger) LogManager.getLogger("org.sparkcollectives.ml");
  private final AbstractAppender appender =
      new AbstractAppender("lines", null, null, true, Property.EMPTY_ARRAY) {
        @Override
        public void append(LogEvent event) {
          if (!Level.WARN.equals(event.getLevel())) {
            lines.add(event.getMessage().getFormattedMessage());
          }
        }
      };

  /** Begins to listen. */
  public LogLines() {
    appender.start();
    logger.addAppender(appender);
  }

  /** Returns what was said so far. */
  public List<String> lines() {
    return lines;
  }

  @Override
  public void close() {
    logger.removeAppender(appender);
    appender.stop();
  }
}
