package org.sparkcollectives.net;

import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Logs refused connections: each host and reason once, and each host a few times at the most,
 * whatever the reasons. So a port scan does not flood the log. Thread-safe.
 */
public final class RefusalLog {

  private static final int HOSTS = 256;
  private static final int REASONS_PER_HOST = 8;
  private static final Logger LOG = LoggerFactory.getLogger(RefusalLog.class);

  private final String listener;
  private final Map<String, Set<String>> said =
      new LinkedHashMap<>() {
        @Override
        protected boolean removeEldestEntry(Map.Entry<String, Set<String>> eldest) {
          return size() > HOSTS;
        }
      };

  /**
   * Creates a log for one listening address.
   *
   * @param listener what was connected to
   */
  public RefusalLog(String listener) {
    this.listener = listener;
  }

  /** Logs the refusal unless it was logged before. Returns whether it was logged now. */
  public boolean refused(String remoteAddress, String why) {
    String host = remoteAddress.replaceFirst(":\\d+$", "");
    synchronized (said) {
      Set<String> reasons = said.computeIfAbsent(host, absent -> new HashSet<>());
      if (reasons.size() >= REASONS_PER_HOST || !reasons.add(why)) {
        return false;
      }
    }
    LOG.warn("{} refused a connection from {}: {}", listener, remoteAddress, why);
    return true;
  }
}
