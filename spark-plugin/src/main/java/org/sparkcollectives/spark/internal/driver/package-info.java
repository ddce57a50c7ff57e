/**
 * The driver's part: the store in which the ranks find each other, and how jobs are submitted.
 *
 * <p>{@link org.sparkcollectives.spark.internal.driver.DriverStores} installs a {@code
 * DriverStore}. Spark's RPC brings the messages of executors to its {@code StoreEndpoint}, Spark's
 * events come to its {@code StageListener}. {@code StoreClients} are the tasks that use it: when
 * one is lost, they report its failure to the others. Large values come as {@code ValueUploads} and
 * are kept as {@code BlockValues}.
 *
 * <p>Before a barrier stage runs, {@link org.sparkcollectives.spark.internal.driver.SlotPreflight}
 * checks that it can; {@link org.sparkcollectives.spark.internal.driver.JobResubmission} submits a
 * failed job again.
 */
package org.sparkcollectives.spark.internal.driver;
