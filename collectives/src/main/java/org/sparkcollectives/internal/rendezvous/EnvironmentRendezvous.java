package org.sparkcollectives.internal.rendezvous;

import java.net.URI;
import java.time.Duration;
import java.util.function.UnaryOperator;
import org.sparkcollectives.GroupOptions;
import org.sparkcollectives.spi.RendezvousHandler;

/**
 * Opens {@code env://} URLs. {@code RANK}, {@code WORLD_SIZE}, {@code MASTER_ADDR} and {@code
 * MASTER_PORT} are environment variables, as torchrun and most cluster launchers set them; {@code
 * rank} and {@code world_size} may be given in the URL instead.
 */
public final class EnvironmentRendezvous implements RendezvousHandler {

  private final UnaryOperator<String> variables;

  /**
   * Creates a handler that looks up each variable by its name; null is a variable that is not set.
   */
  public EnvironmentRendezvous(UnaryOperator<String> variables) {
    this.variables = variables;
  }

  @Override
  public Meeting open(URI url) {
    return open(url, GroupOptions.LONGEST_TIMEOUT);
  }

  @Override
  public Meeting open(URI url, Duration timeout) {
    RendezvousUrl parsed = new RendezvousUrl(url, "env:// or env://?rank=0&world_size=4");
    int rank = number(parsed, "rank", "RANK");
    int size = number(parsed, "world_size", "WORLD_SIZE");
    parsed.check(rank, size);
    String host = required(parsed, "MASTER_ADDR");
    int port;
    try {
      port = Integer.parseInt(required(parsed, "MASTER_PORT").trim());
    } catch (NumberFormatException e) {
      throw parsed.malformed("MASTER_PORT is not a number: " + variables.apply("MASTER_PORT"));
    }
    if (port < 1 || port > 65_535) {
      throw parsed.malformed("MASTER_PORT must be 1 to 65535, not " + port);
    }
    return TcpRendezvous.meet(host, port, rank, size, timeout);
  }

  @Override
  public void failed(Meeting meeting, RuntimeException cause) {
    TcpRendezvous.giveUp(meeting, cause);
  }

  private int number(RendezvousUrl parsed, String name, String variable) {
    String value = variables.apply(variable);
    try {
      return parsed.number(name, value);
    } catch (IllegalArgumentException e) {
      if (value == null) {
        throw parsed.malformed(
            "environment variable " + variable + " expected, but not set; or give " + name);
      }
      throw e;
    }
  }

  private String required(RendezvousUrl parsed, String variable) {
    String value = variables.apply(variable);
    if (value == null || value.isBlank()) {
      throw parsed.malformed("environment variable " + variable + " expected, but not set");
    }
    return value;
  }
}
