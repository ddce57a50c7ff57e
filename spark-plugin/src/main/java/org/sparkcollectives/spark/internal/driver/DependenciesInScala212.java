package org.sparkcollectives.spark.internal.driver;

import org.apache.spark.Dependency;
import scala.collection.Seq;

/** What Spark calls in Scala 2.12, where the method of its RDD has another type. */
interface DependenciesInScala212 {

  /** Returns the dependencies of an RDD. */
  Seq<Dependency<?>> getDependencies();
}
