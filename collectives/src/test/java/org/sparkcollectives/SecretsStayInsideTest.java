package org.sparkcollectives;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Base64;
import java.util.HexFormat;
import java.util.List;
import java.util.Locale;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.sparkcollectives.net.TransportSecurity;
import org.sparkcollectives.spi.RankContext;
import org.sparkcollectives.store.HashStore;
import org.sparkcollectives.store.Store;
import org.sparkcollectives.store.StoreConnectionException;
import org.sparkcollectives.store.TcpStore;
import org.sparkcollectives.store.TcpStoreServer;
import org.sparkcollectives.testing.ForkedJvm;
import org.sparkcollectives.testing.GroupRuns;

/** Tests that a process that logs everything logs no secret. */
class SecretsStayInsideTest {

  private static final byte[] STORE_SECRET = "the secret of the store".getBytes(UTF_8);
  private static final int SECRET_OFFSET = 2;
  private static final int SECRET_BYTES = 32;

  /**
   * Makes a group, encrypts, fails, and refuses a stranger; leaves the group's secret in a file.
   */
  static final class TalkativeProcess {

    private TalkativeProcess() {}

    public static void main(String[] arguments) throws Exception {
      TransportSecurity security = TransportSecurity.ephemeralTls();
      try (TcpStoreServer server = TcpStore.server("127.0.0.1", 0, STORE_SECRET, security)) {
        TcpStore.connect(
            "127.0.0.1", server.port(), "a guess".getBytes(UTF_8), security, server.timeout());
      } catch (StoreConnectionException refused) {
        System.out.println(refused);
      }
      RankContext context = new HostedRank(List.of("spark.collectives.debug=DETAIL"), security);
      GroupOptions options = GroupOptions.defaults().withTransports("tcp").withName("world");
      try (Store store = new HashStore()) {
        GroupRuns.run(
            store,
            2,
            options,
            rank -> context,
            group -> {
              group.allReduce(Tensor.of(1, 2), ReduceOp.SUM).await();
              System.out.println(group);
              if (group.rank() == 0) {
                byte[] table = store.get("world/rendezvous/complete");
                Files.write(Path.of(arguments[0]), table);
              }
              return null;
            });
      }
      System.out.println("done");
    }
  }

  @Test
  void noLogAndNoMessageHasASecret(@TempDir Path folder) throws Exception {
    Path table = folder.resolve("table");
    List<String> options = List.of("-Xmx256m", "-Dorg.slf4j.simpleLogger.defaultLogLevel=trace");
    String output;
    try (ForkedJvm process = ForkedJvm.start(options, TalkativeProcess.class, table.toString())) {
      assertThat(process.exitStatus()).as(process.output()).isZero();
      output = process.output();
    }
    assertThat(output).contains("done").contains("refused the secret").contains("DEBUG");
    byte[] agreed = Files.readAllBytes(table);
    byte[] secret = Arrays.copyOfRange(agreed, SECRET_OFFSET, SECRET_OFFSET + SECRET_BYTES);
    assertThat(agreed[1]).as("the length of the secret").isEqualTo((byte) SECRET_BYTES);
    for (byte[] each : List.of(secret, STORE_SECRET, Arrays.copyOf(secret, 8))) {
      String hex = HexFormat.of().formatHex(each);
      assertThat(output.toLowerCase(Locale.ROOT))
          .doesNotContain(hex)
          .doesNotContain(Arrays.toString(each).replaceAll("[\\[\\]]", ""));
      assertThat(output)
          .doesNotContain(Base64.getEncoder().withoutPadding().encodeToString(each))
          .doesNotContain(new String(each, UTF_8));
    }
  }
}
