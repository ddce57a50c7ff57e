package org.sparkcollectives.store;

import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.Parameter;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.EnumSource;
import org.sparkcollectives.net.TransportSecurity;
import org.sparkcollectives.testing.Eventually;
import org.sparkcollectives.testing.InvocationName;
import org.sparkcollectives.testing.TestTls;

/** Tests two clients of a TCP store, which know its secret, and prefixes over one client. */
@ExtendWith(InvocationName.class)
@ParameterizedClass(name = "{0}")
@EnumSource
class TcpStoreClientTest extends StoreContractTest {

  private static final byte[] SECRET = {1, 2, 3};

  /** How a client reaches the store. */
  enum Access {
    PLAIN,
    /** Over TLS with a key of the process. */
    TLS,
    /** Over TLS with given certificates. */
    CERTIFICATES,
    /** Under a prefix. */
    PREFIX;

    TransportSecurity security() {
      return switch (this) {
        case PLAIN, PREFIX -> TransportSecurity.plain();
        case TLS -> TransportSecurity.ephemeralTls();
        case CERTIFICATES -> TestTls.shared();
      };
    }
  }

  @Parameter private Access access;

  private TcpStoreServer server;

  /** The client that was connected first, which owns the calls of prefixes. */
  private Store client;

  @Override
  protected Store create() {
    server = TcpStore.server("127.0.0.1", 0, SECRET, access.security());
    client = connect();
    return access == Access.PREFIX ? createOther() : client;
  }

  @Override
  protected Store createOther() {
    return access == Access.PREFIX ? client.withPrefix("group 7") : connect();
  }

  private Store connect() {
    return TcpStore.connect(
        "127.0.0.1", server.port(), SECRET, access.security(), Eventually.LIMIT);
  }

  @Override
  protected StoreTable table() {
    return server.table();
  }

  @Override
  protected void closeOwner() {
    client.close();
  }

  @Override
  protected void destroy() {
    server.close();
  }
}
