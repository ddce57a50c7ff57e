package org.sparkcollectives.gpu.staged;

import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.Function;
import java.util.function.Supplier;
import org.sparkcollectives.DType;
import org.sparkcollectives.MemoryRegistration;
import org.sparkcollectives.ReduceOp;
import org.sparkcollectives.SparseTensor;
import org.sparkcollectives.Tensor;
import org.sparkcollectives.Work;
import org.sparkcollectives.spi.Backend;
import org.sparkcollectives.spi.HostBackend;

/**
 * Collectives and messages on GPU tensors through host memory: the tensors are copied there, the
 * group's backend for host memory carries out the operation, and the results are copied back.
 *
 * <p>An operation starts when the earlier work in the caller's current stream is done. It supports
 * all types and reductions of the host, sparse tensors and tags included, and any number of ranks
 * may share a GPU. An operation that reads the elements of a message or a sparse tensor blocks
 * until they are copied; other operations return at once. An operation is done when the results are
 * on the GPU, so {@link Work#synchronize} waits on the host.
 */
final class StagedBackend implements Backend {

  private final String name;
  private final HostBackend host;
  private final StagingArea area;

  StagedBackend(String name, HostBackend host, StagingArea area) {
    this.name = name;
    this.host = host;
    this.area = area;
  }

  @Override
  public String name() {
    return name;
  }

  @Override
  public void setNanCheck(boolean enabled) {
    area.setNanCheck(enabled);
  }

  /** Runs a collective of the host's backend on the host tensors of a staging. */
  private Work collective(Staging staging, List<Tensor> outputs, Function<Backend, Work> call) {
    return ending(staging, outputs, () -> call.apply(host.around(staging.begun())));
  }

  /** Starts a work in host memory. The staging ends with it, or at once if it cannot start. */
  private static Work begin(Staging staging, Supplier<Work> call) {
    try {
      return call.get();
    } catch (RuntimeException e) {
      staging.ended(e);
      throw e;
    }
  }

  private Work ending(Staging staging, List<Tensor> outputs, Supplier<Work> call) {
    Work work = begin(staging, call);
    work.future().whenComplete((tensors, cause) -> staging.ended(cause));
    return StagedWork.of(work, outputs, area.device());
  }

  private Staging staging(String operation) {
    return new Staging(area, operation);
  }

  @Override
  public Work broadcast(Tensor tensor, int root, Duration timeout) {
    Staging staging = staging("broadcast");
    Tensor own = staging.update(tensor);
    return collective(staging, List.of(tensor), on -> on.broadcast(own, root, timeout));
  }

  @Override
  public Work allReduce(Tensor tensor, ReduceOp op, Duration timeout) {
    Staging staging = staging("all-reduce");
    Tensor own = staging.update(tensor);
    return collective(staging, List.of(tensor), on -> on.allReduce(own, op, timeout));
  }

  @Override
  public Work allReduce(SparseTensor tensor, Duration timeout) {
    Staging staging = staging("all-reduce-sparse");
    Tensor indices = staging.read(tensor.indices());
    Tensor values = staging.read(tensor.values());
    return ending(
        staging,
        List.of(),
        () -> {
          // A sparse tensor reads its indices when it is created.
          staging.begun().before();
          return host.allReduce(SparseTensor.of(tensor.shape(), indices, values), timeout);
        });
  }

  @Override
  public Work allReduceCoalesced(List<Tensor> tensors, ReduceOp op, Duration timeout) {
    Staging staging = staging("all-reduce-coalesced");
    List<Tensor> own = tensors.stream().<Tensor>map(staging::update).toList();
    return collective(staging, tensors, on -> on.allReduceCoalesced(own, op, timeout));
  }

  @Override
  public Work reduce(Tensor tensor, ReduceOp op, int root, Duration timeout) {
    Staging staging = staging("reduce");
    // On other ranks than the root, the input is copied back unchanged.
    Tensor own = staging.update(tensor);
    return collective(staging, List.of(tensor), on -> on.reduce(own, op, root, timeout));
  }

  @Override
  public Work allGather(Tensor output, Tensor input, Duration timeout) {
    Staging staging = staging("all-gather");
    Tensor from = staging.read(input);
    Tensor to = staging.write(output);
    return collective(staging, List.of(output), on -> on.allGather(to, from, timeout));
  }

  @Override
  public Work allGather(List<Tensor> outputs, Tensor input, Duration timeout) {
    Staging staging = staging("all-gather");
    Tensor from = staging.read(input);
    List<Tensor> to = staging.writeAll(outputs);
    return collective(staging, outputs, on -> on.allGather(to, from, timeout));
  }

  @Override
  public Work reduceScatter(Tensor output, Tensor input, ReduceOp op, Duration timeout) {
    Staging staging = staging("reduce-scatter");
    Tensor from = staging.read(input);
    Tensor to = staging.write(output);
    return collective(staging, List.of(output), on -> on.reduceScatter(to, from, op, timeout));
  }

  @Override
  public Work reduceScatter(Tensor output, List<Tensor> inputs, ReduceOp op, Duration timeout) {
    Staging staging = staging("reduce-scatter");
    List<Tensor> from = staging.readAll(inputs);
    Tensor to = staging.write(output);
    return collective(staging, List.of(output), on -> on.reduceScatter(to, from, op, timeout));
  }

  @Override
  public Work gather(List<Tensor> outputs, Tensor input, int root, Duration timeout) {
    Staging staging = staging("gather");
    Tensor from = staging.read(input);
    List<Tensor> to = staging.writeAll(outputs);
    return collective(staging, outputs, on -> on.gather(to, from, root, timeout));
  }

  @Override
  public Work scatter(Tensor output, List<Tensor> inputs, int root, Duration timeout) {
    Staging staging = staging("scatter");
    List<Tensor> from = staging.readAll(inputs);
    Tensor to = staging.write(output);
    return collective(staging, List.of(output), on -> on.scatter(to, from, root, timeout));
  }

  @Override
  public Work allToAll(Tensor output, Tensor input, Duration timeout) {
    Staging staging = staging("all-to-all");
    Tensor from = staging.read(input);
    Tensor to = staging.write(output);
    return collective(staging, List.of(output), on -> on.allToAll(to, from, timeout));
  }

  @Override
  public Work allToAll(List<Tensor> outputs, List<Tensor> inputs, Duration timeout) {
    Staging staging = staging("all-to-all");
    List<Tensor> from = staging.readAll(inputs);
    List<Tensor> to = staging.writeAll(outputs);
    return collective(staging, outputs, on -> on.allToAll(to, from, timeout));
  }

  /**
   * Waits for the barrier of the host: done once all earlier work in each rank's stream is done.
   */
  @Override
  public Work barrier(Duration timeout) {
    return collective(staging("barrier"), List.of(), on -> on.barrier(timeout));
  }

  @Override
  public Work send(Tensor tensor, int destination, int tag, Duration timeout) {
    Staging staging = staging("send");
    Tensor own = staging.read(tensor);
    return ending(
        staging,
        List.of(),
        () -> {
          staging.begun().before();
          return host.send(own, destination, tag, timeout);
        });
  }

  @Override
  public Work recv(Tensor tensor, int source, int tag, Duration timeout) {
    return receiving("recv", tensor, own -> host.recv(own, source, tag, timeout));
  }

  @Override
  public Work recvAny(Tensor tensor, int tag, Duration timeout) {
    return receiving("recv-any", tensor, own -> host.recvAny(own, tag, timeout));
  }

  private Work receiving(String operation, Tensor tensor, Function<Tensor, Work> receive) {
    Staging staging = staging(operation);
    Tensor own = staging.write(tensor);
    Work work =
        begin(
            staging,
            () -> {
              staging.begun();
              return receive.apply(own);
            });
    CompletableFuture<List<Tensor>> copied =
        work.future()
            .thenApplyAsync(
                received -> {
                  staging.before();
                  staging.after();
                  return List.of(tensor);
                },
                area.copier());
    return StagedWork.received(
        work, copied.whenComplete((tensors, cause) -> staging.ended(cause)), area.device());
  }

  @Override
  public Tensor allocate(DType dtype, long count) {
    return area.allocate(dtype, count);
  }

  /** Does nothing: all copies over the bus use pinned memory of the group. */
  @Override
  public MemoryRegistration register(Tensor tensor) {
    area.own(tensor);
    return () -> {};
  }

  @Override
  public void close() {
    area.close();
  }
}
