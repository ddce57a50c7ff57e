package org.sparkcollectives.internal.debug;

import java.util.Set;
import org.sparkcollectives.Device;
import org.sparkcollectives.spi.Backend;
import org.sparkcollectives.spi.BackendContext;
import org.sparkcollectives.spi.BackendProvider;

/**
 * The backend {@value #NAME}: one process acts as any rank of a world of any size, without the
 * others. A group that uses it does not wait for its other ranks when it is made.
 */
public final class FakeBackendProvider implements BackendProvider {

  /** The name under which users ask for it. */
  public static final String NAME = "fake";

  /** Creates a provider; called by the service loader. */
  public FakeBackendProvider() {}

  @Override
  public String name() {
    return NAME;
  }

  @Override
  public Set<Device.Type> deviceTypes() {
    return Set.of(Device.Type.CPU);
  }

  @Override
  public boolean needsPeers() {
    return false;
  }

  @Override
  public Backend create(BackendContext group) {
    return new FakeBackend(group.rank(), group.size());
  }
}
