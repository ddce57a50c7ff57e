/** Settings that exist in Spark only, and how they are read from a {@code SparkConf}. */
package org.sparkcollectives.spark.config;
