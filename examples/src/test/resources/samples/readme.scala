import org.apache.spark.rdd.RDD
import org.sparkcollectives._
import org.sparkcollectives.spark._

object Readme {
  def localGradient(rows: Iterator[Array[Double]]): Array[Double] = rows.next()

  def sample(points: RDD[Array[Double]]): RDD[Array[Double]] = {
$sample
    gradients
  }
}
