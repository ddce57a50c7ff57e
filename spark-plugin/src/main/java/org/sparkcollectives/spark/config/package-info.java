/** The settings that exist in Spark only, and what reads all settings from a {@code SparkConf}. */
package org.sparkcollectives.spark.config;
