package org.sparkcollectives.internal.transport.tcp;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.List;
import org.junit.jupiter.api.Test;

/** How handshakes state what a connection carries. */
class ConnectionKindTest {

  @Test
  void everyKindHasItsOwnNumberOnTheWire() {
    List<ConnectionKind> kinds =
        List.of(
            ConnectionKind.collectives(0),
            ConnectionKind.MESSAGES,
            ConnectionKind.RING_OFFER,
            ConnectionKind.collectives(1),
            ConnectionKind.collectives(2));
    for (int code = 0; code < kinds.size(); code++) {
      assertThat(kinds.get(code).code()).isEqualTo(code);
      assertThat(ConnectionKind.ofCode(code)).isEqualTo(kinds.get(code));
    }
  }

  @Test
  void aNumberThatNoVersionStatesIsUnknown() {
    assertThat(ConnectionKind.ofCode(-1).use()).isEqualTo(ConnectionKind.Use.UNKNOWN);
    assertThat(ConnectionKind.ofCode(Integer.MIN_VALUE).use())
        .isEqualTo(ConnectionKind.Use.UNKNOWN);
  }
}
