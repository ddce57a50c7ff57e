package org.sparkcollectives.store.net;

import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Says once for each host and reason that a connection was refused: a port scan is no log flood.
 */
public final class RefusalLog {

  private static final int REMEMBERED = 256;
  private static final Logger LOG = LoggerFactory.getLogger(RefusalLog.class);

  private final String listener;
  private final Set<String> said =
      Collections.newSetFromMap(
          new LinkedHashMap<>() {
            @Override
            protected boolean removeEldestEntry(Map.Entry<String, Boolean> eldest) {
              return size() > REMEMBERED;
            }
          });

  /** With what was connected to. */
  public RefusalLog(String listener) {
    this.listener = listener;
  }

  /** Logs the refusal, unless it was logged before; whether it was logged now. */
  public boolean refused(String remoteAddress, String why) {
    String host = remoteAddress.replaceFirst(":\\d+$", "");
    synchronized (said) {
      if (!said.add(host + why)) {
        return false;
      }
    }
    LOG.warn("{} refused a connection from {}: {}", listener, remoteAddress, why);
    return true;
  }
}
