package org.sparkcollectives.store.net;

import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Says once for each host and reason that a connection was refused, and for each host a few times
 * at the most, whatever the reasons: a port scan is no log flood. Thread-safe.
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

  /** With what was connected to. */
  public RefusalLog(String listener) {
    this.listener = listener;
  }

  /** Logs the refusal, unless it was logged before; whether it was logged now. */
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
