/** The metrics of driver and executors, for Spark's metrics system. */
package org.sparkcollectives.spark.internal.metrics;
