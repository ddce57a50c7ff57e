package org.sparkcollectives;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.util.stream.Stream;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.sparkcollectives.recorder.FlightTrace;
import org.sparkcollectives.spi.BackendRegistry;
import org.sparkcollectives.spi.HostedGroups;
import org.sparkcollectives.store.HashStore;

/** Names that users give, and nobody knows: each is refused with the nearest that is known. */
class UnknownNamesTest {

  static Stream<Arguments> misspelt() {
    return Stream.of(
        of("rnk", "rank", () -> Rendezvous.join("tcp://127.0.0.1:1?rnk=0&world_size=1")),
        of("wold_size", "world_size", () -> Rendezvous.join("tcp://h:1?rank=0&wold_size=1")),
        of("rnak", "rank", () -> Rendezvous.join("file:///tmp/none?rnak=0&world_size=1")),
        of("world-size", "world_size", () -> Rendezvous.join("env://?rank=0&world-size=1")),
        of("tpc", "tcp", () -> Rendezvous.join("tpc://127.0.0.1:1?rank=0&world_size=1")),
        of("hep", "heap", () -> GroupOptions.defaults().withTransports("hep")),
        of("nety", "netty", () -> group("spark.collectives.backend", "nety")),
        of("faek", "fake", () -> BackendRegistry.provider("faek")),
        of("cup", "cpu", () -> GroupOptions.defaults().withBackend("cup:netty,cuda:nccl")),
        of("DETIAL", "DETAIL", () -> group("spark.collectives.debug", "DETIAL")),
        of(
            "RingAllRedcue",
            "RingAllReduce",
            () -> group("spark.collectives.algorithm", "LinearGather,RingAllRedcue")),
        of("tearDwn", "TEAR_DOWN", () -> group("spark.collectives.errorHandling", "tearDwn")),
        of("--verbos", "--verbose", () -> trace("folder", "--verbos")),
        of("--pg_filter", "--pg-filters", () -> trace("folder", "--pg_filter", "x")));
  }

  private static Arguments of(String name, String nearest, ThrowingCallable call) {
    return Arguments.of(name, nearest, call);
  }

  private static void trace(String... arguments) throws IOException {
    FlightTrace.main(arguments);
  }

  /** Makes a group of one rank with a setting. */
  private static void group(String setting, String value) {
    HostedRank rank = HostedRank.inNode(0, setting + "=" + value);
    HostedGroups.create(new HashStore(), 0, 1, GroupOptions.defaults(), rank).close();
  }

  @ParameterizedTest(name = "{0}")
  @MethodSource("misspelt")
  void aMisspeltNameIsRefusedWithTheNearest(String name, String nearest, ThrowingCallable call) {
    assertThatThrownBy(call)
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining(name)
        .hasMessageContaining("Did you mean " + nearest + "?");
  }

  static Stream<Arguments> strange() {
    return Stream.of(
        of("speed", "", () -> Rendezvous.join("tcp://127.0.0.1:1?speed=9&rank=0&world_size=1")),
        of("größe", "", () -> Rendezvous.join("tcp://127.0.0.1:1?größe=9&rank=0&world_size=1")),
        of("pigeon", "", () -> Rendezvous.join("pigeon://roof")),
        of("\"\"", "", () -> GroupOptions.defaults().withTransports("")),
        of("carrier pigeon", "", () -> GroupOptions.defaults().withTransports("carrier pigeon")),
        of("gloo", "", () -> BackendRegistry.provider("gloo")),
        of("--faster", "", () -> trace("folder", "--faster")));
  }

  @ParameterizedTest(name = "{0}")
  @MethodSource("strange")
  void aNameThatIsNearNoneIsRefusedWithout(String name, String none, ThrowingCallable call) {
    assertThatThrownBy(call)
        .isInstanceOf(IllegalArgumentException.class)
        .hasMessageContaining(name)
        .message()
        .doesNotContain("Did you mean");
  }
}
