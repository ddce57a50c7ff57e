package org.sparkcollectives.spark.internal.ui;

import org.apache.spark.SparkConf;
import org.apache.spark.scheduler.SparkListener;
import org.apache.spark.status.ElementTrackingStore;
import scala.collection.Seq;
import scala.xml.Node;

/**
 * Methods of Spark's types as they are in Spark 3.5 on Scala 2.12, where {@code Seq} is {@code
 * scala.collection.Seq}. For a class that has the method of Scala 2.13 and implements the interface
 * here, the compiler makes a bridge with the signature that is needed.
 */
final class OtherSparks {

  private OtherSparks() {}

  /** A {@code WebUIPage}. */
  interface Page {
    Seq<Node> render(javax.servlet.http.HttpServletRequest request);
  }

  /** An {@code AppHistoryServerPlugin}. */
  interface History {
    Seq<SparkListener> createListeners(SparkConf conf, ElementTrackingStore store);
  }
}
