package org.sparkcollectives.gpu.staged;

import java.util.List;
import java.util.Set;
import java.util.function.Supplier;
import org.sparkcollectives.Device;
import org.sparkcollectives.config.ConfigEntry;
import org.sparkcollectives.gpu.GpuChoice;
import org.sparkcollectives.gpu.GpuConfiguration;
import org.sparkcollectives.gpu.cuda.Cuda;
import org.sparkcollectives.gpu.cuda.CudaException;
import org.sparkcollectives.gpu.cuda.DriverCuda;
import org.sparkcollectives.spi.Backend;
import org.sparkcollectives.spi.BackendContext;
import org.sparkcollectives.spi.BackendProvider;
import org.sparkcollectives.spi.BackendRegistry;

/**
 * The backend behind {@code cuda:netty}. The CUDA driver is loaded when the first such group is
 * created, never before; NCCL is not needed.
 */
public final class StagedBackendProvider implements BackendProvider {

  private final String name;
  private final Supplier<Cuda> cuda;

  /** Creates the provider as {@link java.util.ServiceLoader} needs it. */
  public StagedBackendProvider() {
    this(BackendRegistry.NETTY_ON_GPU, DriverCuda::load);
  }

  /**
   * Creates a provider over the given driver.
   *
   * @param name under which groups ask for it
   */
  public StagedBackendProvider(String name, Supplier<Cuda> cuda) {
    this.name = name;
    this.cuda = cuda;
  }

  @Override
  public String name() {
    return name;
  }

  @Override
  public List<ConfigEntry<?>> settings() {
    return GpuConfiguration.entries();
  }

  @Override
  public Set<Device.Type> deviceTypes() {
    return Set.of(Device.Type.CUDA);
  }

  /** Loads the CUDA driver to find out. */
  @Override
  public boolean isAvailable() {
    try {
      return cuda.get() != null;
    } catch (CudaException e) {
      return false;
    }
  }

  @Override
  public Backend create(BackendContext group) {
    return new StagedBackend(
        name,
        group.host(),
        new StagingArea(
            GpuChoice.among(cuda.get()).of(group.context()),
            group.operations(),
            group.options().nanCheck().orElseThrow(),
            group.groupName()));
  }
}
