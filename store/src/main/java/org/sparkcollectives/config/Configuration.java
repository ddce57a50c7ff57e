package org.sparkcollectives.config;

import java.util.Map;
import java.util.Objects;
import java.util.function.Function;

/**
 * Looks up settings: first in the given texts, then in the system properties.
 *
 * <p>Immutable, apart from the system properties themselves, which are read at each call.
 */
public final class Configuration {

  private final Function<String, String> given;

  private Configuration(Function<String, String> given) {
    this.given = given;
  }

  /** Creates a configuration that reads the system properties alone. */
  public static Configuration ofSystemProperties() {
    return new Configuration(key -> null);
  }

  /**
   * Creates a configuration from a copy of {@code settings}; keys that it lacks are read from the
   * system properties.
   */
  public static Configuration of(Map<String, String> settings) {
    return new Configuration(Map.copyOf(settings)::get);
  }

  /**
   * Creates a configuration from a lookup; keys for which it returns null are read from the system
   * properties.
   */
  public static Configuration of(Function<String, String> lookup) {
    return new Configuration(Objects.requireNonNull(lookup, "lookup"));
  }

  /**
   * Returns the value of {@code entry}, or its default if it is not set.
   *
   * @throws IllegalArgumentException naming the key, the bad value and the accepted form
   */
  public <T> T get(ConfigEntry<T> entry) {
    String text = text(entry);
    return text == null ? entry.defaultValue() : entry.parse(text);
  }

  /** Returns whether {@code entry} is set, in the texts or as a system property. */
  public boolean isSet(ConfigEntry<?> entry) {
    return text(entry) != null;
  }

  private String text(ConfigEntry<?> entry) {
    String text = given.apply(entry.key());
    return text != null ? text : System.getProperty(entry.key());
  }
}
