package org.sparkcollectives.net;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.function.UnaryOperator;
import org.junit.jupiter.api.Test;
import org.sparkcollectives.testing.TestTls;

/** Tests that both sides must agree on how the connection is protected. */
class HandshakeProtectionTest extends HandshakeWire {

  @Test
  void sidesThatProtectDifferentlyRefuseEachOtherWithWords() throws Exception {
    openWith(TransportSecurity.plain(), TransportSecurity.ephemeralTls());
    exchange();
    assertThat(clientFailure())
        .hasMessageContaining("it does not speak TLS, which this side requires");
    assertThat(clientFailure().isWorthARetry()).isFalse();
    assertThat(refused)
        .singleElement()
        .asString()
        .contains("it encrypts with TLS, but this side does not encrypt");
    assertThat(accepted).isEmpty();
  }

  @Test
  void aSideThatDoesNotEncryptIsRefusedWithWordsWhereTheOtherDoes() throws Exception {
    openWith(TransportSecurity.ephemeralTls(), TransportSecurity.plain());
    exchange();
    assertThat(clientFailure())
        .hasMessageContaining(
            "it encrypts with TLS with ephemeral certificates, but this side does not encrypt");
    assertThat(refused).singleElement().asString().contains("it does not speak TLS");
    assertThat(accepted).isEmpty();
  }

  @Test
  void aServerWithCertificatesIsNotForAClientThatTakesAny() throws Exception {
    openWith(TestTls.create(), TransportSecurity.ephemeralTls());
    exchange();
    assertThat(clientFailure())
        .hasMessageContaining(
            "it encrypts with TLS, but this side encrypts with TLS with ephemeral certificates");
    assertThat(refused)
        .singleElement()
        .asString()
        .contains(
            "it encrypts with TLS with ephemeral certificates, but this side encrypts with TLS;");
    assertThat(accepted).isEmpty();
  }

  @Test
  void whatTheClientSaysOfItsProtectionCannotBeChangedOnTheWay() throws Exception {
    openWith(TransportSecurity.plain(), TransportSecurity.plain());
    boolean[] first = {true};
    exchange(
        bytes -> {
          if (first[0]) {
            first[0] = false;
            bytes[bytes.length - 1] = Protection.TLS.code();
          }
          return bytes;
        },
        UnaryOperator.identity());
    assertThat(accepted).isEmpty();
    assertThat(done).isCompletedExceptionally();
    assertThat(refused).singleElement().asString().contains("settings of encryption");
  }
}
