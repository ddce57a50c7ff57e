/**
 * The tab "Collectives" in Spark's UI, live and in the history server.
 *
 * <p>The driver posts events of {@code org.sparkcollectives.spark.event}. {@code GroupListener}
 * makes rows of them in Spark's store of what it shows, live as well as when a history server reads
 * an event log, and the pages read these rows.
 *
 * <p>One jar serves Spark 3.5 on both Scalas and Spark 4, whose methods differ: {@code OtherSparks}
 * has those that the plugin is not compiled against. No code here names a class of Jetty. Nothing
 * here fails its host: without a tab an application runs, and a history server shows its other
 * pages.
 */
package org.sparkcollectives.spark.internal.ui;
