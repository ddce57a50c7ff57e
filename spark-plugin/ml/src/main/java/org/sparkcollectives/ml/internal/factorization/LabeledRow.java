package org.sparkcollectives.ml.internal.factorization;

import java.util.ArrayList;
import java.util.Iterator;
import java.util.List;
import org.apache.spark.mllib.linalg.Vector;
import org.sparkcollectives.ml.internal.rows.HeapBudget;
import scala.Tuple2;

/** A row as Spark's gradients of factorization machines read it. */
record LabeledRow(double label, Vector features) {

  /**
   * Returns all rows of a rank, in their order.
   *
   * @param state how many numbers the state of the iterations consists of
   * @throws org.sparkcollectives.ml.internal.rows.HeapShortage if they are more than it may hold
   */
  static List<LabeledRow> listOf(Iterator<Tuple2<Object, Vector>> rows, long state) {
    HeapBudget held = HeapBudget.ofThisRank(state);
    List<LabeledRow> list = new ArrayList<>();
    while (rows.hasNext()) {
      Tuple2<Object, Vector> row = rows.next();
      held.add(row._2().asML());
      list.add(new LabeledRow((Double) row._1(), row._2()));
    }
    return list;
  }
}
