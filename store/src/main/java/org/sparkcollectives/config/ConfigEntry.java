package org.sparkcollectives.config;

import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.function.Function;
import java.util.function.Predicate;

/**
 * One setting: its key, what its text means, its default, and its documentation.
 *
 * <p>Immutable. Each module declares its entries in one class, as constants; {@link Configuration}
 * reads them.
 *
 * @param <T> the type of the value
 */
public final class ConfigEntry<T> {

  private final String key;
  private final String type;
  private final String form;
  private final Function<String, T> parser;
  private final T defaultValue;
  private final String defaultText;
  private final String doc;
  private final String since;
  private final List<String> choices;

  private ConfigEntry(Builder<T> builder, T defaultValue, String defaultText) {
    this.key = builder.key;
    this.type = builder.type;
    this.form = builder.form;
    this.parser = builder.parser;
    this.choices = builder.choices;
    this.doc = Objects.requireNonNull(builder.doc, () -> key + " has no doc");
    this.since = Objects.requireNonNull(builder.since, () -> key + " has no since");
    this.defaultValue = defaultValue;
    this.defaultText = defaultText;
  }

  /** Creates a setting that holds a duration, such as {@code 30min}. */
  public static Builder<Duration> duration(String key) {
    return new Builder<>(
        key,
        "duration",
        "a whole number and us, ms, s, min, h or d, such as 30min",
        TimeString::parse,
        TimeString::format);
  }

  /** Creates a setting that holds a size in bytes, such as {@code 64m}. */
  public static Builder<Long> bytes(String key) {
    return new Builder<>(
        key,
        "bytes",
        "a whole number and b, k, m, g, t or p, such as 64m",
        ByteString::parse,
        ByteString::format);
  }

  /** Creates a setting that holds a 32-bit integer. */
  public static Builder<Integer> integer(String key) {
    return new Builder<>(
        key, "int", "a whole number", text -> Integer.parseInt(text.trim()), String::valueOf);
  }

  /** Creates a setting that is {@code true} or {@code false}. */
  public static Builder<Boolean> bool(String key) {
    return new Builder<>(
        key, "boolean", "true or false", ConfigEntry::parseBoolean, String::valueOf);
  }

  /** Creates a setting that holds any text. */
  public static Builder<String> string(String key) {
    return new Builder<>(key, "string", "any text", Function.identity(), Function.identity());
  }

  /**
   * Creates a setting that holds a constant of an enum, in upper or lower case, with {@code _} or
   * {@code -}.
   */
  public static <E extends Enum<E>> Builder<E> choice(String key, Class<E> constants) {
    List<String> all = Arrays.stream(constants.getEnumConstants()).map(Enum::name).toList();
    Builder<E> builder =
        new Builder<>(
            key,
            "choice",
            "one of " + String.join(", ", all),
            text -> Enum.valueOf(constants, text.trim().toUpperCase(Locale.ROOT).replace('-', '_')),
            Enum::name);
    builder.choices = all;
    return builder;
  }

  /**
   * Creates a setting that holds texts separated by commas. Blanks around each text are dropped,
   * and so are empty texts.
   */
  public static Builder<List<String>> list(String key) {
    return new Builder<>(
        key,
        "list",
        "texts separated by commas",
        ConfigEntry::parseList,
        list -> String.join(",", list));
  }

  private static boolean parseBoolean(String text) {
    return switch (text.trim()) {
      case "true" -> true;
      case "false" -> false;
      default -> throw new IllegalArgumentException("neither true nor false: '" + text + "'");
    };
  }

  private static List<String> parseList(String text) {
    return Arrays.stream(text.split(",", -1))
        .map(String::trim)
        .filter(Predicate.not(String::isEmpty))
        .toList();
  }

  /**
   * Returns the value that {@code text} stands for.
   *
   * @throws IllegalArgumentException naming the key, the text and the accepted form
   */
  public T parse(String text) {
    try {
      return parser.apply(text);
    } catch (IllegalArgumentException e) {
      throw new IllegalArgumentException(
          key
              + " has the value '"
              + text
              + "'; it must be "
              + form
              + NearestName.question(text, choices),
          e);
    }
  }

  /** Returns the name of the setting. */
  public String key() {
    return key;
  }

  /** Returns the kind of value in one word, for the documentation. */
  public String type() {
    return type;
  }

  /** Returns the value that applies when the setting is absent. */
  public T defaultValue() {
    return defaultValue;
  }

  /** Returns the default as a user would write it. */
  public String defaultText() {
    return defaultText;
  }

  /** Returns what the setting does, in a sentence or two. */
  public String doc() {
    return doc;
  }

  /** Returns the first version that has the setting. */
  public String since() {
    return since;
  }

  @Override
  public String toString() {
    return key;
  }

  /**
   * Collects the parts of an entry; {@link #defaultsTo} creates it.
   *
   * @param <T> the type of the value
   */
  public static final class Builder<T> {

    private final String key;
    private final String type;
    private String form;
    private Function<String, T> parser;
    private final Function<T, String> formatter;
    private String doc;
    private String since;
    private List<String> choices = List.of();

    private Builder(
        String key,
        String type,
        String form,
        Function<String, T> parser,
        Function<T, String> formatter) {
      this.key = Objects.requireNonNull(key, "key");
      this.type = type;
      this.form = form;
      this.parser = parser;
      this.formatter = formatter;
    }

    /** Describes the setting in a sentence or two. */
    public Builder<T> doc(String text) {
      this.doc = text;
      return this;
    }

    /** Names the first version that has the setting. */
    public Builder<T> since(String version) {
      this.since = version;
      return this;
    }

    /**
     * Accepts only values for which {@code rule} holds; {@code requirement} states the rule in
     * words.
     */
    public Builder<T> check(Predicate<T> rule, String requirement) {
      Function<String, T> unchecked = parser;
      this.form = form + ", " + requirement;
      this.parser =
          text -> {
            T value = unchecked.apply(text);
            if (!rule.test(value)) {
              throw new IllegalArgumentException("not " + requirement + ": '" + text + "'");
            }
            return value;
          };
      return this;
    }

    /** Creates the entry with this default. */
    public ConfigEntry<T> defaultsTo(T value) {
      return new ConfigEntry<>(this, value, formatter.apply(value));
    }
  }
}
