package org.sparkcollectives.gpu.nccl;

import java.util.List;
import java.util.Set;
import java.util.function.Function;
import java.util.function.Supplier;
import org.sparkcollectives.Device;
import org.sparkcollectives.config.ConfigEntry;
import org.sparkcollectives.config.Configuration;
import org.sparkcollectives.gpu.GpuChoice;
import org.sparkcollectives.gpu.GpuConfiguration;
import org.sparkcollectives.gpu.cuda.Cuda;
import org.sparkcollectives.gpu.cuda.CudaDevice;
import org.sparkcollectives.gpu.cuda.CudaException;
import org.sparkcollectives.gpu.cuda.DriverCuda;
import org.sparkcollectives.spi.Backend;
import org.sparkcollectives.spi.BackendContext;
import org.sparkcollectives.spi.BackendOrigin;
import org.sparkcollectives.spi.BackendProvider;

/**
 * The backend {@code nccl}, for groups that ask for {@code cuda:nccl}.
 *
 * <p>The CUDA driver and NCCL are loaded when the first such group is created, never before.
 */
public final class NcclBackendProvider implements BackendProvider {

  private final String name;
  private final Supplier<Cuda> cuda;
  private final Function<String, Nccl> nccl;
  private final NcclTuning tuning;

  /** Creates the provider as {@link java.util.ServiceLoader} needs it. */
  public NcclBackendProvider() {
    this("nccl", DriverCuda::load, NativeNccl::load, NcclTuning.DEFAULT);
  }

  /**
   * Creates a provider over the given driver and library.
   *
   * @param name under which groups ask for it
   * @param cuda the driver
   * @param nccl the library, by the path that is configured
   * @param tuning what no setting says
   */
  public NcclBackendProvider(
      String name, Supplier<Cuda> cuda, Function<String, Nccl> nccl, NcclTuning tuning) {
    this.name = name;
    this.cuda = cuda;
    this.nccl = nccl;
    this.tuning = tuning;
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

  /** Loads the CUDA driver and NCCL to find out. */
  @Override
  public boolean isAvailable() {
    try {
      String configured = Configuration.ofSystemProperties().get(GpuConfiguration.NCCL_LIBRARY);
      return cuda.get() != null && nccl.apply(configured) != null;
    } catch (CudaException | NcclException e) {
      return false;
    }
  }

  /**
   * Returns the communicators from which a new group's can be created, as far as this rank knows.
   */
  private static GroupCommunicators parent(BackendContext group, Nccl library) {
    BackendOrigin origin = group.origin();
    if (origin == null || !(origin.backend() instanceof NcclBackend parent)) {
      return null;
    }
    GroupCommunicators communicators = parent.group().communicators();
    // Operations in progress may wait for the ranks that a shrink leaves out.
    boolean possible =
        origin.color() >= 0
            || (!origin.excluded().isEmpty() && library.canShrink() && communicators.isIdle());
    return possible && communicators.isReady() ? communicators : null;
  }

  /**
   * Blocks until all ranks have published their GPUs and, if configured so, for the communicator.
   */
  @Override
  public Backend create(BackendContext group) {
    Nccl library = nccl.apply(group.configuration().get(GpuConfiguration.NCCL_LIBRARY));
    CudaDevice device = GpuChoice.among(cuda.get()).of(group.context());
    NcclGroup created = null;
    boolean ready = false;
    try {
      GroupCommunicators parent = parent(group, library);
      boolean allHaveParent = PeerGpuCheck.check(group, device, library.version(), parent != null);
      created = new NcclGroup(group, library, device, tuning);
      created.start();
      if (group.configuration().get(GpuConfiguration.EAGER)) {
        created.communicators().createNow(allHaveParent ? parent : null);
      }
      ready = true;
      return new NcclBackend(name, created);
    } finally {
      if (!ready) {
        if (created == null) {
          device.close();
        } else {
          created.close();
        }
      }
    }
  }
}
