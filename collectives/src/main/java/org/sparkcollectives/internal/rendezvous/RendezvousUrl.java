package org.sparkcollectives.internal.rendezvous;

import java.net.URI;
import java.util.HashMap;
import java.util.Map;

/** A parsed rendezvous URL: the rank, the world size, and no unknown argument. */
final class RendezvousUrl {

  private final URI url;
  private final String example;
  private final Map<String, String> arguments = new HashMap<>();

  /**
   * Creates a parsed URL.
   *
   * @param example how such a URL should look, for errors
   */
  RendezvousUrl(URI url, String example) {
    this.url = url;
    this.example = example;
    String query = url.getQuery();
    if (query != null) {
      for (String each : query.split("&", -1)) {
        int equals = each.indexOf('=');
        String name = equals < 0 ? each : each.substring(0, equals);
        if (arguments.put(name, equals < 0 ? "" : each.substring(equals + 1)) != null) {
          throw malformed(name + " is given twice");
        }
      }
    }
  }

  /** Returns the argument {@code name}, or {@code otherwise}, as a number. */
  int number(String name, String otherwise) {
    String text = arguments.remove(name);
    if (text == null) {
      text = otherwise;
    }
    if (text == null) {
      throw malformed(name + " parameter missing");
    }
    try {
      return Integer.parseInt(text.trim());
    } catch (NumberFormatException e) {
      throw malformed(name + " is not a number: " + text);
    }
  }

  /** Refuses arguments that were not read, and a rank that is not in the world. */
  void check(int rank, int size) {
    if (!arguments.isEmpty()) {
      throw malformed("unknown arguments " + arguments.keySet());
    }
    if (size < 1 || rank < 0 || rank >= size) {
      throw malformed("rank must be 0 to world_size - 1, but is " + rank + " of " + size);
    }
  }

  /** Returns the exception that says that {@code what} is wrong. */
  IllegalArgumentException malformed(String what) {
    return new IllegalArgumentException(
        "Cannot meet at " + url + ": " + what + ". It must look like " + example);
  }
}
