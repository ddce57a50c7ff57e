package org.sparkcollectives.gpu.testing;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;
import org.junit.jupiter.api.extension.AfterEachCallback;
import org.junit.jupiter.api.extension.BeforeEachCallback;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.sparkcollectives.GroupOptions;
import org.sparkcollectives.HostedRank;
import org.sparkcollectives.ProcessGroup;
import org.sparkcollectives.gpu.cuda.CudaDevice;
import org.sparkcollectives.gpu.nccl.NcclBackendProvider;
import org.sparkcollectives.gpu.nccl.NcclTuning;
import org.sparkcollectives.net.TransportSecurity;
import org.sparkcollectives.spi.BackendRegistry;
import org.sparkcollectives.spi.HostedGroups;
import org.sparkcollectives.store.HashStore;
import org.sparkcollectives.testing.Eventually;
import org.sparkcollectives.testing.GroupRuns;
import org.sparkcollectives.testing.RankThreads;

/**
 * Gives a test GPUs and NCCL without either: each rank, a thread, has a GPU of its own. After the
 * test nothing may be left on them, and the fake of NCCL must have recorded no violation.
 */
public final class FakeGpus implements BeforeEachCallback, AfterEachCallback {

  /** The backend that groups ask for. */
  public static final String BACKEND = "nccl-fake";

  private static final int COUNT = 8;

  private FakeCuda cuda;
  private FakeNccl nccl;
  private boolean leaksExpected;

  @Override
  public void beforeEach(ExtensionContext test) {
    cuda = new FakeCuda(COUNT);
    nccl = new FakeNccl(cuda);
    register(NcclTuning.DEFAULT);
  }

  private void register(NcclTuning tuning) {
    BackendRegistry.register(new NcclBackendProvider(BACKEND, () -> cuda, path -> nccl, tuning));
  }

  /** Makes choices for groups that are created from now on. */
  public void tune(NcclTuning tuning) {
    BackendRegistry.unregister(BACKEND);
    register(tuning);
  }

  @Override
  public void afterEach(ExtensionContext test) {
    BackendRegistry.unregister(BACKEND);
    if (!leaksExpected) {
      cuda.awaitNothingLeft();
      // Threads that a rank did not wait for release them.
      Eventually.holds(
          () -> nccl.communicators() == 0, () -> nccl.communicators() + " communicators are left");
    }
    cuda.close();
    assertThat(cuda.streams().errors()).isEmpty();
    assertThat(nccl.violations()).isEmpty();
  }

  /** Allows that NCCL keeps resources that it was asked to release. */
  public void expectLeaks() {
    leaksExpected = true;
  }

  /**
   * Checks that ranks fail to create a group.
   *
   * @param ordinals the GPU of each rank
   * @param check checks the failure of each rank
   * @param settings each {@code key=value}
   */
  public void expectNoGroup(List<Integer> ordinals, Consumer<Throwable> check, String... settings) {
    try (HashStore store = new HashStore()) {
      RankThreads.run(
          ordinals.size(),
          rank -> {
            List<String> all = new ArrayList<>(List.of(settings));
            all.add("spark.collectives.gpu.ordinal=" + ordinals.get(rank));
            HostedRank host = new HostedRank(all, TransportSecurity.plain());
            check.accept(
                catchThrowable(
                    () -> HostedGroups.create(store, rank, ordinals.size(), options(), host)));
            return null;
          });
    }
  }

  /** Returns the driver. */
  public FakeCuda cuda() {
    return cuda;
  }

  /** Returns the library. */
  public FakeNccl nccl() {
    return nccl;
  }

  /** The program of a rank with its GPU. */
  public interface Body<T> {
    /** Runs as one rank. */
    T run(ProcessGroup world, CudaDevice gpu) throws Exception;
  }

  /** Returns options of groups with host memory and GPUs. */
  public static GroupOptions options() {
    return GroupOptions.defaults().withBackend("cpu:netty,cuda:" + BACKEND);
  }

  /** Runs a body as each of some ranks. */
  public <T> List<T> run(int size, Body<T> body, String... settings) {
    return run(size, options(), body, settings);
  }

  /**
   * Runs a body as each of some ranks.
   *
   * @param settings each {@code key=value}
   */
  public <T> List<T> run(int size, GroupOptions options, Body<T> body, String... settings) {
    try (HashStore store = new HashStore()) {
      return GroupRuns.run(
          store,
          size,
          options,
          rank -> {
            List<String> all = new ArrayList<>(List.of(settings));
            all.add("spark.collectives.gpu.ordinal=" + rank);
            return new HostedRank(all, TransportSecurity.plain());
          },
          world -> {
            try (CudaDevice gpu = CudaDevice.open(cuda, world.globalRank(world.rank()))) {
              return body.run(world, gpu);
            }
          });
    }
  }
}
