package org.sparkcollectives.store;

import static java.nio.charset.StandardCharsets.UTF_8;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.sparkcollectives.net.TransportSecurity;
import org.sparkcollectives.testing.Eventually;
import org.sparkcollectives.testing.TestTls;
import org.sparkcollectives.testing.Wiretap;

/**
 * Tests that two sides that protect their connection differently refuse each other at once, and say
 * why.
 */
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class TcpStoreProtectionTest {

  private static final byte[] SECRET = "a secret".getBytes(UTF_8);

  private TransportSecurity tls;
  private TransportSecurity otherTls;

  @BeforeAll
  void makeKeys() throws Exception {
    tls = TestTls.create();
    otherTls = TestTls.create();
  }

  Stream<Arguments> differing() {
    List<TransportSecurity> all =
        List.of(TransportSecurity.plain(), TransportSecurity.ephemeralTls(), tls);
    return all.stream()
        .flatMap(
            server ->
                all.stream()
                    .filter(client -> client != server)
                    .map(client -> Arguments.of(server, client)));
  }

  @ParameterizedTest
  @MethodSource("differing")
  void sidesThatDifferAreRefusedWithWords(TransportSecurity server, TransportSecurity client) {
    try (TcpStoreServer store = TcpStore.server("127.0.0.1", 0, SECRET, server)) {
      assertThatThrownBy(
              () -> TcpStore.connect("127.0.0.1", store.port(), SECRET, client, Eventually.LIMIT))
          .isInstanceOf(StoreConnectionException.class)
          .message()
          .doesNotContain(" within ") // The client does not retry until the time is over.
          .containsAnyOf(
              "settings of encryption", "does not speak TLS, which this side requires", "TLS: ");
    }
  }

  @Test
  void aServerWithAnotherCertificateIsRefusedAtOnce() {
    try (TcpStoreServer store = TcpStore.server("127.0.0.1", 0, SECRET, otherTls)) {
      assertThatThrownBy(
              () -> TcpStore.connect("127.0.0.1", store.port(), SECRET, tls, Eventually.LIMIT))
          .isInstanceOf(StoreConnectionException.class)
          .hasMessageContaining("TLS: ")
          .message()
          .doesNotContain(" within ");
    }
  }

  @Test
  void whatIsSentIsInForceNotOnlyAgreedOn() throws Exception {
    for (TransportSecurity security : List.of(TransportSecurity.ephemeralTls(), tls)) {
      try (TcpStoreServer store = TcpStore.server("127.0.0.1", 0, SECRET, security);
          Wiretap wire = Wiretap.on(store.port())) {
        try (Store client =
            TcpStore.connect("127.0.0.1", wire.port(), SECRET, security, Eventually.LIMIT)) {
          client.set("a key that nobody may see", "a value that nobody may see".getBytes(UTF_8));
          assertThat(client.get("a key that nobody may see")).isNotEmpty();
        }
        assertThat(wire.seen()).isNotEmpty().doesNotContain("nobody may see");
      }
    }
    try (TcpStoreServer store = TcpStore.server("127.0.0.1", 0, SECRET, TransportSecurity.plain());
        Wiretap wire = Wiretap.on(store.port())) {
      try (Store client =
          TcpStore.connect(
              "127.0.0.1", wire.port(), SECRET, TransportSecurity.plain(), Eventually.LIMIT)) {
        client.set("key", "a value that anybody may see".getBytes(UTF_8));
      }
      assertThat(wire.seen()).as("the wiretap works").contains("anybody may see");
    }
  }
}
