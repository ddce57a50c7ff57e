import org.apache.spark.rdd.RDD
import org.sparkcollectives.spark.IterativeStage
import scala.jdk.CollectionConverters._

object KMeansAfter {
  case class Centers(size: Int) {
    def add(point: Array[Double], sum: Array[Double]): Array[Double] = sum
    def moved(sum: Array[Double]): Centers = this
  }

  def sample(points: RDD[Array[Double]], initial: Centers): Centers = {
$sample
    centers
  }
}
