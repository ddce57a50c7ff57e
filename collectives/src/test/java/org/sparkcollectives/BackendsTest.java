package org.sparkcollectives;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.sparkcollectives.spi.Backend;
import org.sparkcollectives.spi.BackendContext;
import org.sparkcollectives.spi.BackendProvider;
import org.sparkcollectives.spi.BackendRegistry;
import org.sparkcollectives.store.HashStore;
import org.sparkcollectives.testing.LeakCheck;

/** Tests which backend carries out a group's operations, and how a group names its backends. */
@ExtendWith(LeakCheck.class)
class BackendsTest {

  @Test
  void oneNameIsForAllDevicesAndPairsForOneEach() {
    assertThat(BackendConfig.parse("Netty").everywhere()).isEqualTo("netty");
    assertThat(BackendConfig.parse("cpu:netty,CUDA:nccl").byDevice())
        .containsEntry(Device.Type.CPU, "netty")
        .containsEntry(Device.Type.CUDA, "nccl");
    assertThat(BackendConfig.parse("cuda:nccl,cpu:netty")).hasToString("cpu:netty,cuda:nccl");
    assertThat(BackendConfig.parse("").everywhere()).isEmpty();
  }

  @ParameterizedTest
  @ValueSource(
      strings = {
        "cpu:netty,",
        ",",
        "a,b",
        "cuda:",
        ":netty",
        "cpu:a:b",
        "cpu:netty,cpu:fake",
        "tpu:netty",
        "net ty",
        "cpu:netty nccl",
        "cpu: netty"
      })
  void whatIsMalformedIsRefused(String text) {
    assertThatThrownBy(() -> GroupOptions.defaults().withBackend(text))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining("Invalid backend \"" + text + "\"")
        .hasMessageContaining("cpu:netty,cuda:nccl");
  }

  @Test
  void aBackendThatIsNotThereIsRefusedNamingThoseThatAre() {
    try (HashStore store = new HashStore()) {
      assertThatThrownBy(
              () ->
                  ProcessGroups.create(
                      store, 0, 1, GroupOptions.defaults().withBackend("cpu:bogus")))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageContaining("no backend named \"bogus\", only [fake, netty]");
      assertThatThrownBy(
              () ->
                  ProcessGroups.create(
                      store, 0, 1, GroupOptions.defaults().withBackend("cuda:fake")))
          .isInstanceOf(IllegalArgumentException.class)
          .hasMessageContaining("fake does not work on tensors of cuda");
    }
    assertThat(BackendRegistry.isAvailable("cpu:netty")).isTrue();
    assertThat(BackendRegistry.isAvailable("cpu:netty,cuda:bogus")).isFalse();
  }

  @Test
  void oneProcessCanBeAnyRankOfALargeWorldInADryRun() {
    try (HashStore store = new HashStore();
        ProcessGroup world =
            ProcessGroups.create(store, 17, 1000, GroupOptions.defaults().withBackend("fake"))) {
      assertThat(world.size()).isEqualTo(1000);
      assertThat(world.backend()).isEqualTo("cpu:fake");
      int[] all = new int[1000];
      Work work = world.allGather(Tensor.of(all), Tensor.of(7));
      work.await();
      assertThat(all).containsOnly(7);
      assertThat(work.isSuccess()).isTrue();
      assertThat(work.opType()).isEqualTo(OpType.ALL_GATHER_INTO);
      assertThat(work.result().join()).isEqualTo(WorkResult.SUCCESS);
      assertThat(world.barrier().sequenceNumber()).isEqualTo(1);
      assertThat(world.newGroup(17, 3).rank()).isZero();
    }
  }

  @Test
  void aDryRunHasMessagesObjectsAndSparseSums() {
    try (HashStore store = new HashStore();
        ProcessGroup world =
            ProcessGroups.create(store, 2, 4, GroupOptions.defaults().withBackend("fake"))) {
      assertThat(world.recv(Tensor.of(1), 3).sourceRank()).isEqualTo(3);
      assertThat(world.recvAny(Tensor.of(1)).sourceRank()).isEqualTo(2);
      assertThatThrownBy(() -> world.allReduce(Tensor.of(1)).sourceRank())
          .isInstanceOf(IllegalStateException.class);
      SparseTensor sparse =
          SparseTensor.of(new long[] {5}, Tensor.of(1L, 3L).reshape(1, 2), Tensor.of(1f, 2f));
      assertThat(world.allReduce(sparse).sparseResult()).isSameAs(sparse);
      assertThat(world.objects().broadcast("mine", 0)).isEqualTo("mine");
      assertThat(world.objects().allGather("mine")).hasSize(4).containsOnly("mine");
      assertThat(world.objects().gather("mine", 2)).hasSize(4);
      assertThat(world.objects().gather("mine", 1)).isNull();
      assertThat(world.objects().scatter(List.of(1, 2, 3, 4), 2)).isEqualTo(3);
      world.objects().send("mine", 1);
      assertThat(world.withTimeout(Duration.ofMinutes(1)).objects().<String>recv(1)).isNull();
      Coalescing block = world.coalesce();
      try (block) {
        world.allReduce(Tensor.of(1));
        world.send(Tensor.of(1), 1);
      }
      block.work().await();
      assertThat(world.isFailed()).isFalse();
    }
  }

  private static List<Tensor> parts(float[] whole) {
    Tensor tensor = Tensor.of(whole);
    return IntStream.range(0, whole.length).mapToObj(i -> tensor.slice(i, 1)).toList();
  }

  @Test
  void aBackendThatPreparesNothingMakesThePlainCallAtEachStart() {
    try (HashStore store = new HashStore();
        ProcessGroup world =
            ProcessGroups.create(store, 1, 3, GroupOptions.defaults().withBackend("fake"))) {
      float[] all = new float[3];
      float[] own = {7};
      float[] part = new float[1];
      List<PersistentCollective> prepared =
          List.of(
              world.allReduceInit(Tensor.of(own)),
              world.broadcastInit(Tensor.of(own), 0),
              world.allGatherInit(Tensor.of(all), Tensor.of(own)),
              world.reduceScatterInit(Tensor.of(part), Tensor.of(all)),
              world.gatherInit(List.of(), Tensor.of(own), 0),
              world.allGatherInit(parts(all), Tensor.of(own)),
              world.reduceScatterInit(Tensor.of(part), parts(all)));
      for (int step = 0; step < 2; step++) {
        own[0] = 8 + step;
        for (PersistentCollective each : prepared) {
          Work work = each.start();
          work.await();
          assertThat(work.sequenceNumber())
              .isEqualTo(prepared.size() * step + prepared.indexOf(each));
        }
        assertThat(all).containsOnly(8 + step);
        assertThat(part).containsExactly(8 + step);
      }
    }
  }

  @ParameterizedTest
  @ValueSource(strings = {"", "Netty", "a,b", "cpu:mine", "1st", "netty", "fake"})
  void aBackendNeedsANameOfItsOwn(String name) {
    BackendProvider provider =
        new BackendProvider() {
          @Override
          public String name() {
            return name;
          }

          @Override
          public Set<Device.Type> deviceTypes() {
            return Set.of(Device.Type.CPU);
          }

          @Override
          public Backend create(BackendContext group) {
            throw new AssertionError("never asked for");
          }
        };
    assertThatThrownBy(() -> BackendRegistry.register(provider))
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining(name);
    assertThat(BackendRegistry.names()).isEqualTo(Set.of("fake", "netty"));
  }

  @Test
  void aBackendOfOnesOwnIsRegisteredOnceAndUsed() {
    BackendProvider mine =
        new BackendProvider() {
          @Override
          public String name() {
            return "mine";
          }

          @Override
          public Set<Device.Type> deviceTypes() {
            return Set.of(Device.Type.CPU);
          }

          @Override
          public Backend create(BackendContext group) {
            group
                .store()
                .set("made", group.groupName().getBytes(java.nio.charset.StandardCharsets.UTF_8));
            return BackendRegistry.provider("fake").create(group);
          }
        };
    BackendRegistry.register(mine);
    try (HashStore store = new HashStore()) {
      assertThatThrownBy(() -> BackendRegistry.register(mine))
          .hasMessageContaining("a backend named mine already");
      try (ProcessGroup world =
          ProcessGroups.create(
              store, 0, 1, GroupOptions.defaults().withName("w").withBackend("mine"))) {
        world.allReduce(Tensor.of(1f), ReduceOp.SUM).await();
        assertThat(store.get("w/backend/mine/made")).asString().isEqualTo("w");
      }
    } finally {
      BackendRegistry.unregister("mine");
    }
    assertThat(BackendRegistry.names()).isEqualTo(Set.copyOf(List.of("fake", "netty")));
  }

  @Test
  void theWayOverTheHostIsCalledAsUsersAskForIt() {
    BackendProvider fake = BackendRegistry.provider("fake");
    BackendProvider staged =
        new BackendProvider() {
          @Override
          public String name() {
            return BackendRegistry.NETTY_ON_GPU;
          }

          @Override
          public Set<Device.Type> deviceTypes() {
            return Set.of(Device.Type.CUDA);
          }

          @Override
          public boolean isAvailable() {
            return false;
          }

          @Override
          public Backend create(BackendContext group) {
            Backend made = fake.create(group);
            return (Backend)
                Proxy.newProxyInstance(
                    Backend.class.getClassLoader(),
                    new Class<?>[] {Backend.class},
                    (proxy, method, arguments) ->
                        method.getName().equals("name") ? name() : method.invoke(made, arguments));
          }
        };
    BackendRegistry.register(staged);
    try (HashStore store = new HashStore();
        ProcessGroup world =
            ProcessGroups.create(
                store, 0, 1, GroupOptions.defaults().withBackend("cpu:netty,cuda:netty"))) {
      assertThat(world.backend()).isEqualTo("cpu:netty,cuda:netty");
      // The backend exists, but what it needs does not.
      assertThat(BackendRegistry.names()).contains(BackendRegistry.NETTY_ON_GPU);
      assertThat(BackendRegistry.isAvailable("cpu:netty,cuda:netty")).isFalse();
    } finally {
      BackendRegistry.unregister(BackendRegistry.NETTY_ON_GPU);
    }
  }
}
