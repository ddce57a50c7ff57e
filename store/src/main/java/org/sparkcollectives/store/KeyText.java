package org.sparkcollectives.store;

import java.util.Collection;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/** Formats keys for messages, and checks which strings may be keys. */
final class KeyText {

  /** The longest key in bytes of UTF-8: 64 KiB. Keys are names; a longer one is a mistake. */
  static final int MAX_KEY_BYTES = 1 << 16;

  private static final int SHOWN_KEYS = 16;
  private static final int SHOWN_CHARACTERS = 256;

  private KeyText() {}

  static String quote(String key) {
    return key.length() <= SHOWN_CHARACTERS
        ? '"' + key + '"'
        : '"' + key.substring(0, SHOWN_CHARACTERS) + "…\" (" + key.length() + " characters)";
  }

  /**
   * Returns {@code message} with {@code prefix} removed from its keys, as its reader knows them.
   */
  static String withoutPrefix(String prefix, String message) {
    return message == null || prefix.isEmpty()
        ? message
        : message.replaceAll('"' + Pattern.quote(prefix) + "(?!\")", "\"");
  }

  static String quote(Collection<String> keys) {
    String shown =
        keys.stream().limit(SHOWN_KEYS).map(KeyText::quote).collect(Collectors.joining(", "));
    return keys.size() <= SHOWN_KEYS
        ? shown
        : shown + " and " + (keys.size() - SHOWN_KEYS) + " more";
  }

  /**
   * Returns {@code key}.
   *
   * @throws IllegalArgumentException if it is too long, or contains half of a surrogate pair: that
   *     has no form in UTF-8, so the key would change on the way to another process
   */
  static String checked(String key) {
    int bytes = 0;
    for (int i = 0; i < key.length(); i++) {
      char c = key.charAt(i);
      if (Character.isSurrogate(c)) {
        if (!Character.isHighSurrogate(c)
            || i + 1 == key.length()
            || !Character.isLowSurrogate(key.charAt(i + 1))) {
          throw new IllegalArgumentException(
              "key has half of a surrogate pair at index " + i + ": " + quote(key));
        }
        i++;
        bytes += 4;
      } else {
        bytes += c < 0x80 ? 1 : c < 0x800 ? 2 : 3;
      }
      if (bytes > MAX_KEY_BYTES) {
        throw new IllegalArgumentException(
            "key is longer than " + MAX_KEY_BYTES + " bytes: " + quote(key));
      }
    }
    return key;
  }
}
