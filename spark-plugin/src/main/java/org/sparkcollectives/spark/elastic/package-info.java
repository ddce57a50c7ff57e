/** The replica of a task of an {@code ElasticStage}, and the function that trains it. */
package org.sparkcollectives.spark.elastic;
