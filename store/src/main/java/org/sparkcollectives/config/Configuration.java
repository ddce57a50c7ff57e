package org.sparkcollectives.config;

import java.util.Map;
import java.util.Objects;
import java.util.function.Function;

/**
 * Where settings are looked up: given texts first, then the system properties.
 *
 * <p>Immutable, apart from the system properties themselves, which are read at each call.
 */
public final class Configuration {

  private final Function<String, String> given;

  private Configuration(Function<String, String> given) {
    this.given = given;
  }

  /** The system properties alone. */
  public static Configuration ofSystemProperties() {
    return new Configuration(key -> null);
  }

  /** A copy of {@code settings}, and for keys that it lacks the system properties. */
  public static Configuration of(Map<String, String> settings) {
    return new Configuration(Map.copyOf(settings)::get);
  }

  /** A lookup that gives null for keys that it lacks, and for those the system properties. */
  public static Configuration of(Function<String, String> lookup) {
    return new Configuration(Objects.requireNonNull(lookup, "lookup"));
  }

  /**
   * The value of {@code entry}, its default where it is not set.
   *
   * @throws IllegalArgumentException naming the key, the bad value and the accepted form
   */
  public <T> T get(ConfigEntry<T> entry) {
    String text = text(entry);
    return text == null ? entry.defaultValue() : entry.parse(text);
  }

  /** Whether {@code entry} was set by anybody. */
  public boolean isSet(ConfigEntry<?> entry) {
    return text(entry) != null;
  }

  private String text(ConfigEntry<?> entry) {
    String text = given.apply(entry.key());
    return text != null ? text : System.getProperty(entry.key());
  }
}
