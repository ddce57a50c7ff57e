package org.sparkcollectives.ml.testing;

import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.stream.Stream;
import org.apache.logging.log4j.Level;
import org.apache.logging.log4j.LogManager;
import org.apache.logging.log4j.core.LogEvent;
import org.apache.logging.log4j.core.Logger;
import org.apache.logging.log4j.core.appender.AbstractAppender;
import org.apache.logging.log4j.core.config.Configurator;
import org.apache.logging.log4j.core.config.Property;

/** Records the warnings of a fit, be it Spark's own or that of this module, on the driver. */
public final class Warnings implements AutoCloseable {

  /** Spark's fits say this of their own cache, which the ranks do not use. */
  private static final String OF_SPARKS_CACHE = "Be careful of double caching";

  /** In front of the text: the uid, of Spark's fits in brackets and with another number. */
  private static final String ESTIMATOR = "^(\\[[^]]*] |[A-Za-z]\\w*: )";

  private static final String INSTRUMENTATION = "org.apache.spark.ml.util.Instrumentation";

  private final List<String> texts = new CopyOnWriteArrayList<>();
  private final Level before = LogManager.getLogger(INSTRUMENTATION).getLevel();
  private final AbstractAppender appender =
      new AbstractAppender("warnings", null, null, true, Property.EMPTY_ARRAY) {
        @Override
        public void append(LogEvent event) {
          String text = event.getMessage().getFormattedMessage();
          if (Level.WARN.equals(event.getLevel()) && !text.contains(OF_SPARKS_CACHE)) {
            // Spark has a brace too many in one of them.
            texts.add(text.replaceFirst(ESTIMATOR, "").replace("},", ","));
          }
        }
      };

  /** Begins to listen. */
  public Warnings() {
    Configurator.setLevel(INSTRUMENTATION, Level.WARN);
    appender.start();
    loggers().forEach(logger -> logger.addAppender(appender));
  }

  private static Stream<Logger> loggers() {
    return Stream.of(
            INSTRUMENTATION, "org.apache.spark.mllib.optimization", "org.sparkcollectives.ml")
        .map(name -> (Logger) LogManager.getLogger(name));
  }

  /** Returns the texts so far, without the estimator. */
  public List<String> texts() {
    return texts;
  }

  @Override
  public void close() {
    loggers().forEach(logger -> logger.removeAppender(appender));
    appender.stop();
    Configurator.setLevel(INSTRUMENTATION, before);
  }
}
