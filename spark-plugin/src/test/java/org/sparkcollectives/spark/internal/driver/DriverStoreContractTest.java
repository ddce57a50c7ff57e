package org.sparkcollectives.spark.internal.driver;

import org.sparkcollectives.spark.internal.protocol.StageAttempt;
import org.sparkcollectives.store.Store;
import org.sparkcollectives.store.StoreContractTest;
import org.sparkcollectives.store.StoreTable;

/** Tests that the driver's store and its clients fulfil the contract of every store. */
class DriverStoreContractTest extends StoreContractTest {

  private static final StageAttempt STAGE = new StageAttempt(3, 0);

  private TestDriver driver;

  @Override
  protected Store create() {
    driver = new TestDriver("1g");
    return createOther();
  }

  @Override
  protected Store createOther() {
    return driver.connect(STAGE);
  }

  @Override
  protected StoreTable table() {
    return driver.store().table();
  }

  @Override
  protected void destroy() {
    driver.close();
  }
}
