package org.sparkcollectives.gpu.nccl;

import java.util.Set;
import java.util.function.Function;
import java.util.function.Supplier;
import org.sparkcollectives.Backend;
import org.sparkcollectives.BackendContext;
import org.sparkcollectives.BackendProvider;
import org.sparkcollectives.Device;
import org.sparkcollectives.gpu.GpuChoice;
import org.sparkcollectives.gpu.GpuConfiguration;
import org.sparkcollectives.gpu.cuda.Cuda;
import org.sparkcollectives.gpu.cuda.CudaDevice;
import org.sparkcollectives.gpu.cuda.DriverCuda;

/**
 * The backend {@code nccl}, for groups that ask for {@code cuda:nccl}.
 *
 * <p>The CUDA driver and NCCL are loaded when the first such group is made, never before.
 */
public final class NcclBackendProvider implements BackendProvider {

  private final String name;
  private final Supplier<Cuda> cuda;
  private final Function<String, Nccl> nccl;

  /** As {@link java.util.ServiceLoader} makes it. */
  public NcclBackendProvider() {
    this("nccl", DriverCuda::load, NativeNccl::load);
  }

  /**
   * Over a driver and a library of one's own.
   *
   * @param name under which groups ask for it
   * @param cuda the driver
   * @param nccl the library, by the path that is configured
   */
  public NcclBackendProvider(String name, Supplier<Cuda> cuda, Function<String, Nccl> nccl) {
    this.name = name;
    this.cuda = cuda;
    this.nccl = nccl;
  }

  @Override
  public String name() {
    return name;
  }

  @Override
  public Set<Device.Type> deviceTypes() {
    return Set.of(Device.Type.CUDA);
  }

  /** Blocks until all ranks have told of their GPUs, and if so configured for the communicator. */
  @Override
  public Backend create(BackendContext group) {
    Nccl library = nccl.apply(group.configuration().get(GpuConfiguration.NCCL_LIBRARY));
    CudaDevice device = GpuChoice.among(cuda.get()).of(group.context());
    NcclGroup made = null;
    boolean ready = false;
    try {
      GpuRoster.check(group, device, library.version());
      made = new NcclGroup(group, library, device);
      if (group.configuration().get(GpuConfiguration.EAGER)) {
        made.makeCommunicator();
      }
      ready = true;
      return new NcclBackend(name, made);
    } finally {
      if (!ready) {
        if (made == null) {
          device.close();
        } else {
          made.close();
        }
      }
    }
  }
}
