package org.sparkcollectives.ml.connect;

import java.util.Map;
import java.util.Optional;
import java.util.ServiceLoader;
import java.util.stream.Collectors;
import org.apache.spark.ml.Estimator;
import org.apache.spark.sql.connect.plugin.MLBackendPlugin;

/**
 * Replaces Spark ML's estimators by this library's on a server of Spark Connect, so that clients
 * need not change their programs.
 *
 * <p>Needs Spark 4.0 or later, and a server that was started with this jar and the plugin's. A
 * client turns it on for its own session:
 *
 * <pre>{@code
 * spark.conf.set("spark.connect.ml.backend.classes",
 *     "org.sparkcollectives.ml.connect.CollectivesBackend")
 * }</pre>
 *
 * <p>The estimators are those that this jar lists for {@link ServiceLoader}, as Spark Connect asks
 * of every estimator; each stands for the class of Spark that it extends. Models keep their names,
 * because they are Spark's own. Thread-safe.
 */
public final class CollectivesBackend implements MLBackendPlugin {

  private static final String OWN = "org.sparkcollectives.ml.";

  private final Map<String, String> replacements;

  /** Creates the backend; Spark does so by the name of the class, for each session. */
  public CollectivesBackend() {
    this.replacements =
        ServiceLoader.load(Estimator.class, CollectivesBackend.class.getClassLoader()).stream()
            .<Class<?>>map(ServiceLoader.Provider::type)
            .filter(type -> type.getName().startsWith(OWN))
            .collect(
                Collectors.toUnmodifiableMap(
                    type -> type.getSuperclass().getName(), Class::getName));
  }

  /**
   * Returns the name of the estimator that stands for {@code operator}; empty if there is none.
   *
   * @param operator the name of a class of Spark ML: an estimator, a transformer, a model
   */
  @Override
  public Optional<String> transform(String operator) {
    return Optional.ofNullable(replacements.get(operator));
  }
}
