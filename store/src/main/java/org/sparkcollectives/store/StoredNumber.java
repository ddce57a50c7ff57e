package org.sparkcollectives.store;

import java.nio.charset.StandardCharsets;

/** The 64-bit numbers, in decimal text, that {@link Store#add} counts in. */
final class StoredNumber {

  private static final int LONGEST = 20;

  private StoredNumber() {}

  /** Returns the number in {@code current}, or 0 if that is null, and {@code amount} more. */
  static long add(String key, StoredValue current, long amount) {
    long number = current == null ? 0 : parse(key, current);
    long sum = number + amount;
    if (((number ^ sum) & (amount ^ sum)) < 0) {
      throw new StoreException(
          "add to key "
              + KeyText.quote(key)
              + ": "
              + number
              + " + "
              + amount
              + " does not fit into 64 bits; the value stays "
              + number);
    }
    return sum;
  }

  /** Returns the text of a number. */
  static byte[] encode(long number) {
    return Long.toString(number).getBytes(StandardCharsets.US_ASCII);
  }

  private static long parse(String key, StoredValue value) {
    if (value.size() <= LONGEST) {
      String text = new String(value.bytes(), StandardCharsets.ISO_8859_1);
      if (text.matches("-?[0-9]+")) {
        try {
          return Long.parseLong(text);
        } catch (NumberFormatException tooLarge) {
          // Continues below: a number of 19 or 20 digits may still be out of range.
        }
      }
    }
    throw new StoreException(
        "add to key "
            + KeyText.quote(key)
            + ": its value ("
            + value.size()
            + " bytes) is not a decimal 64-bit integer");
  }
}
