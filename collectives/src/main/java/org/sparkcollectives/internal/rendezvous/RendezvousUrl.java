package org.sparkcollectives.internal.rendezvous;

import java.net.URI;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.sparkcollectives.config.NearestName;

/** A parsed rendezvous URL: the rank, the world size, and no other argument. */
final class RendezvousUrl {

  private static final List<String> NAMES = List.of("rank", "world_size");

  private final URI url;
  private final String example;
  private final Map<String, String> arguments = new HashMap<>();

  /**
   * Creates a parsed URL.
   *
   * @param example how such a URL should look, for errors
   * @throws IllegalArgumentException if it has an unknown argument, or one twice
   */
  RendezvousUrl(URI url, String example) {
    this.url = url;
    this.example = example;
    String query = url.getQuery();
    if (query != null) {
      for (String each : query.split("&", -1)) {
        int equals = each.indexOf('=');
        String name = equals < 0 ? each : each.substring(0, equals);
        if (!NAMES.contains(name)) {
          throw malformed("unknown argument " + name, NearestName.question(name, NAMES));
        }
        if (arguments.put(name, equals < 0 ? "" : each.substring(equals + 1)) != null) {
          throw malformed(name + " is given twice");
        }
      }
    }
  }

  /** Returns the argument {@code name}, or {@code otherwise}, as a number. */
  int number(String name, String otherwise) {
    String text = arguments.getOrDefault(name, otherwise);
    if (text == null) {
      throw malformed(name + " parameter missing");
    }
    try {
      return Integer.parseInt(text.trim());
    } catch (NumberFormatException e) {
      throw malformed(name + " is not a number: " + text);
    }
  }

  /** Refuses a rank that is not in the world. */
  void check(int rank, int size) {
    if (size < 1 || rank < 0 || rank >= size) {
      throw malformed("rank must be 0 to world_size - 1, but is " + rank + " of " + size);
    }
  }

  /** Returns the exception that says that {@code what} is wrong. */
  IllegalArgumentException malformed(String what) {
    return malformed(what, "");
  }

  private IllegalArgumentException malformed(String what, String question) {
    return new IllegalArgumentException(
        "Cannot meet at "
            + url
            + ": "
            + what
            + (question.isEmpty() ? "." : question)
            + " It must look like "
            + example);
  }
}
