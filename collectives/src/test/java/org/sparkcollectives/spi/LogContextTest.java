package org.sparkcollectives.spi;

import static org.assertj.core.api.Assertions.as;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.io.IOException;
import java.io.PrintStream;
import java.lang.reflect.Field;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import org.assertj.core.api.InstanceOfAssertFactories;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledOnOs;
import org.junit.jupiter.api.condition.OS;
import org.junit.jupiter.api.io.TempDir;
import org.slf4j.MDC;
import org.slf4j.helpers.BasicMDCAdapter;
import org.slf4j.spi.MDCAdapter;
import org.sparkcollectives.Failure;
import org.sparkcollectives.GroupOptions;
import org.sparkcollectives.HostedRank;
import org.sparkcollectives.net.TransportSecurity;
import org.sparkcollectives.spi.failure.RankIdentity;
import org.sparkcollectives.store.HashStore;
import org.sparkcollectives.testing.GroupRuns;

class LogContextTest {

  private final LogContext context =
      LogContext.of(new RankIdentity("app/world", 3, "host", "5", 7));

  private MDCAdapter before;

  /** Gives this test an MDC that keeps what it is given: slf4j-simple's does not. */
  @BeforeEach
  void keepKeys() throws ReflectiveOperationException {
    before = MDC.getMDCAdapter();
    use(new BasicMDCAdapter());
  }

  @AfterEach
  void restore() throws ReflectiveOperationException {
    use(before);
  }

  private static void use(MDCAdapter adapter) throws ReflectiveOperationException {
    Field field = MDC.class.getDeclaredField("mdcAdapter");
    field.setAccessible(true);
    field.set(null, adapter);
  }

  @Test
  void theKeysAreThereWhileTheBodyRunsAndGoneAfterwards() {
    Map<String, String> during = context.during("barrier #1").call(MDC::getCopyOfContextMap);
    assertThat(during)
        .containsEntry("collectives.group", "app/world")
        .containsEntry("collectives.rank", "3")
        .containsEntry("collectives.operation", "barrier #1");
    assertThat(MDC.get("collectives.group")).isNull();
    assertThat(MDC.get("collectives.rank")).isNull();
    assertThat(MDC.get("collectives.operation")).isNull();
  }

  @Test
  void whatTheThreadHadBeforeIsPutBackThoughTheBodyThrows() {
    MDC.put("collectives.rank", "mine");
    MDC.put("user", "ada");
    assertThatThrownBy(
            () ->
                context.run(
                    () -> {
                      assertThat(MDC.get("user")).isEqualTo("ada");
                      throw new IllegalStateException("on purpose");
                    }))
        .hasMessage("on purpose");
    assertThat(MDC.getCopyOfContextMap())
        .isEqualTo(Map.of("collectives.rank", "mine", "user", "ada"));
  }

  @Test
  void anInnerContextWithoutAnOperationKeepsThatOfTheOuter() {
    context
        .during("barrier #1")
        .run(
            () ->
                context.run(
                    () -> assertThat(MDC.get("collectives.operation")).isEqualTo("barrier #1")));
  }

  /** Memory that was there when the ranks met is not when they first need it. */
  @EnabledOnOs(OS.LINUX)
  @Test
  void whoFindsNoMemoryForMessagesSaysSoInTheContextOfTheOperation(@TempDir Path parent)
      throws IOException {
    Path folder = Files.createDirectory(parent.resolve("shm"));
    Map<String, List<Map<String, String>>> logged = new ConcurrentHashMap<>();
    PrintStream stderr = System.err;
    System.setErr(
        new PrintStream(stderr, true) {
          @Override
          public void println(String line) {
            for (String logger : List.of("RingOffer", "AgreedFile")) {
              if (line.contains(logger)) {
                logged
                    .computeIfAbsent(logger, name -> new CopyOnWriteArrayList<>())
                    .add(MDC.getCopyOfContextMap());
              }
            }
            super.println(line);
          }
        });
    try {
      GroupRuns.run(
          2,
          GroupOptions.defaults().withName("crowded"),
          rank -> HostedRank.inNode(rank, "spark.collectives.shm.folder=" + folder),
          group -> {
            folder.toFile().delete();
            group.barrier().await();
            return null;
          });
    } finally {
      System.setErr(stderr);
    }
    assertThat(logged).containsOnlyKeys("RingOffer", "AgreedFile");
    assertThat(logged.get("AgreedFile"))
        .singleElement(as(InstanceOfAssertFactories.map(String.class, String.class)))
        .containsEntry("collectives.group", "crowded")
        .containsEntry("collectives.rank", "0")
        .hasEntrySatisfying(
            "collectives.operation", value -> assertThat(value).startsWith("barrier #0"));
    assertThat(logged.get("RingOffer"))
        .allSatisfy(
            keys ->
                assertThat(keys)
                    .containsEntry("collectives.group", "crowded")
                    .hasEntrySatisfying(
                        "collectives.operation", op -> assertThat(op).startsWith("barrier #0")))
        .extracting(keys -> keys.get("collectives.rank"))
        .containsExactlyInAnyOrder("0", "1");
  }

  /** Transports and backends log in the rank's context while they are made. */
  @Test
  void aGroupIsMadeAndClosedInTheContextOfItsRank() {
    List<Map<String, String>> seen = new ArrayList<>();
    RankContext host =
        new HostedRank(List.of(), TransportSecurity.plain()) {
          @Override
          public void joined(String group, Failure ifLost) {
            seen.add(MDC.getCopyOfContextMap());
          }

          @Override
          public void left(String group) {
            seen.add(MDC.getCopyOfContextMap());
          }
        };
    try (HashStore store = new HashStore()) {
      HostedGroups.create(store, 0, 1, GroupOptions.defaults().withName("alone"), host).close();
    }
    Map<String, String> keys = Map.of("collectives.group", "alone", "collectives.rank", "0");
    assertThat(seen).containsExactly(keys, keys);
    assertThat(MDC.get("collectives.group")).isNull();
  }
}
