package org.sparkcollectives.spark.internal.driver;

import org.apache.spark.Dependency;
import scala.collection.Seq;

/** Declares {@code RDD.getDependencies} with the return type that it has in Scala 2.12. */
interface DependenciesInScala212 {

  /** Returns the dependencies of an RDD. */
  Seq<Dependency<?>> getDependencies();
}
