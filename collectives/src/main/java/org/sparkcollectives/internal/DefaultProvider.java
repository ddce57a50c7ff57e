package org.sparkcollectives.internal;

import java.io.IOException;
import java.net.URI;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import org.sparkcollectives.DType;
import org.sparkcollectives.GroupOptions;
import org.sparkcollectives.ProcessGroup;
import org.sparkcollectives.ReconfigurableGroup;
import org.sparkcollectives.SharedMemory;
import org.sparkcollectives.Tensor;
import org.sparkcollectives.internal.group.GroupCreation;
import org.sparkcollectives.internal.rendezvous.RendezvousHandlers;
import org.sparkcollectives.internal.transport.shm.SharedFileMemory;
import org.sparkcollectives.spi.RankContext;
import org.sparkcollectives.spi.RendezvousHandler;
import org.sparkcollectives.spi.SpiProvider;
import org.sparkcollectives.spi.tensor.HostTensor;
import org.sparkcollectives.store.Store;

/** Connects the public packages to their implementation. Loaded by its name. */
public final class DefaultProvider implements SpiProvider {

  @Override
  public Tensor wrap(DType dtype, Object primitiveArray) {
    return HostTensor.wrap(dtype, primitiveArray);
  }

  @Override
  public Tensor wrap(DType dtype, ByteBuffer direct) {
    return HostTensor.wrap(dtype, direct);
  }

  @Override
  public Tensor allocate(DType dtype, long count) {
    return HostTensor.allocate(dtype, count);
  }

  @Override
  public long count(long... shape) {
    return HostTensor.count(shape);
  }

  @Override
  public SharedMemory sharedMemory(Path folder, long bytes) throws IOException {
    return SharedFileMemory.create(folder, bytes);
  }

  @Override
  public SharedMemory openSharedMemory(String path, byte[] nonce, long bytes) throws IOException {
    return SharedFileMemory.open(path, nonce, bytes);
  }

  @Override
  public ProcessGroup create(Store store, int rank, int size, GroupOptions options) {
    return GroupCreation.create(store, rank, size, options);
  }

  @Override
  public ProcessGroup create(
      Store store,
      int rank,
      int size,
      GroupOptions options,
      RankContext context,
      Runnable afterClose) {
    return GroupCreation.create(store, rank, size, options, context, afterClose);
  }

  @Override
  public ReconfigurableGroup reconfigurable(Store store, int rank, int size, GroupOptions options) {
    return GroupCreation.reconfigurable(store, rank, size, options);
  }

  @Override
  public ReconfigurableGroup reconfigurable(
      Store store,
      int rank,
      int size,
      GroupOptions options,
      RankContext context,
      Runnable afterClose) {
    return GroupCreation.reconfigurable(store, rank, size, options, context, afterClose);
  }

  @Override
  public ProcessGroup join(URI url, GroupOptions options) {
    return GroupCreation.join(url, RendezvousHandlers.of(url), options);
  }

  @Override
  public void register(String scheme, RendezvousHandler handler) {
    RendezvousHandlers.register(scheme, handler);
  }
}
