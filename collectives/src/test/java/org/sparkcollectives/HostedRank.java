package org.sparkcollectives;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.sparkcollectives.config.ByteString;
import org.sparkcollectives.config.Configuration;
import org.sparkcollectives.net.TransportSecurity;
import org.sparkcollectives.spi.RankContext;
import org.sparkcollectives.spi.RankTuning;

/** A rank's host with settings of its own. */
public class HostedRank implements RankContext {

  private final Map<String, String> settings = new HashMap<>();
  private final TransportSecurity security;
  private final RankTuning tuning;

  /**
   * Creates a host with settings, each {@code key=value}; {@code tuning.stripeBytes} is a choice of
   * {@link RankTuning}.
   */
  public HostedRank(List<String> settings, TransportSecurity security) {
    for (String each : settings) {
      this.settings.put(
          each.substring(0, each.indexOf('=')), each.substring(each.indexOf('=') + 1));
    }
    this.security = security;
    String stripes = this.settings.remove("tuning.stripeBytes");
    this.tuning =
        stripes == null
            ? RankTuning.DEFAULT
            : RankTuning.DEFAULT.withStripeBytes(ByteString.parse(stripes));
  }

  /**
   * Returns a host in a node that ranks with another number are not in, as if in another process:
   * different settings keep them apart.
   *
   * @param settings further ones, each {@code key=value}
   */
  public static HostedRank inNode(int number, String... settings) {
    List<String> all = new ArrayList<>(List.of(settings));
    // This is the default number of ports to try, and some more, so it makes no other difference.
    all.add("spark.port.maxRetries=" + (16 + number));
    return new HostedRank(all, TransportSecurity.plain());
  }

  @Override
  public String executorId() {
    return "test";
  }

  @Override
  public long taskAttemptId() {
    return -1;
  }

  @Override
  public boolean isKilled() {
    return false;
  }

  @Override
  public String killReason() {
    return "";
  }

  @Override
  public final Configuration configuration() {
    return Configuration.of(settings);
  }

  @Override
  public final RankTuning tuning() {
    return tuning;
  }

  @Override
  public final TransportSecurity security() {
    return security;
  }
}
