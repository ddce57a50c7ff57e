/** What the task of an {@code ElasticStage} has: its replica, and the function that trains it. */
package org.sparkcollectives.spark.elastic;
