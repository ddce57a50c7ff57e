/** Protects connections between executors as Spark's settings say. */
package org.sparkcollectives.spark.internal.security;
