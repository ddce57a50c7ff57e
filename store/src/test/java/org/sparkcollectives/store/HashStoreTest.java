package org.sparkcollectives.store;

class HashStoreTest extends StoreContractTest {

  private HashStore store;

  @Override
  protected Store create() {
    store = new HashStore();
    return store;
  }

  @Override
  protected Store createOther() {
    return store;
  }

  @Override
  protected StoreTable table() {
    return store.table();
  }

  @Override
  protected void destroy() {}
}
