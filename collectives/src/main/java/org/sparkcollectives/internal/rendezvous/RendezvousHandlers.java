package org.sparkcollectives.internal.rendezvous;

import java.util.Map;
import org.sparkcollectives.RendezvousHandler;

/** Lists the schemes of rendezvous URLs that the library knows. */
public final class RendezvousHandlers {

  private RendezvousHandlers() {}

  /** Returns the handlers, by scheme. */
  public static Map<String, RendezvousHandler> byScheme() {
    return Map.of(
        "tcp", new TcpRendezvous(),
        "file", new FileRendezvous(),
        "env", new EnvironmentRendezvous(System::getenv));
  }
}
