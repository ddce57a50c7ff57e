/** A replica of an {@code ElasticStage}: its steps, its quorums, and the state that heals. */
package org.sparkcollectives.spark.internal.elastic;
