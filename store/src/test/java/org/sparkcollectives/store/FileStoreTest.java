package org.sparkcollectives.store;

import java.nio.file.Path;
import org.junit.jupiter.api.io.TempDir;

class FileStoreTest extends StoreContractTest {

  @TempDir Path folder;

  private FileStore store;

  @Override
  protected Store create() {
    store = new FileStore(folder.resolve("store"), 2);
    return store;
  }

  @Override
  protected Store createOther() {
    return new FileStore(folder.resolve("store"), 2);
  }

  @Override
  protected StoreTable table() {
    return store.table();
  }

  @Override
  protected int waiters() {
    return store.waiterCount();
  }

  @Override
  protected void destroy() {}
}
