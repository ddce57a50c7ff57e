package org.sparkcollectives.store;

import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;

/** Tests the remote store and the session, which every remote kind shares, without a network. */
class LoopbackStoreTest extends StoreContractTest {

  private static final String GROUP = "app-1/stage 3.0/world/";

  private StoreTable table;

  @Override
  protected Store create() {
    table = new StoreTable();
    table.set(List.of("outside"), List.of(StoredValue.of(new byte[1])));
    return createOther();
  }

  @Override
  protected Store createOther() {
    return new LoopbackStore(table);
  }

  @Override
  protected StoreTable table() {
    return table;
  }

  @Override
  protected void destroy() {
    table.close();
  }

  private static final class LoopbackStore extends RemoteStore {

    private final StoreSession session;

    LoopbackStore(StoreTable table) {
      super("LoopbackStore", Duration.ofMinutes(5));
      this.session = new StoreSession(table, GROUP);
    }

    @Override
    protected CompletableFuture<byte[]> ask(byte[] request) {
      return session.answer(ByteBuffer.wrap(request));
    }

    @Override
    protected void disconnect() {
      session.close();
    }
  }
}
