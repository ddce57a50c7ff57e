import org.apache.spark.SparkContext
import org.apache.spark.rdd.RDD

object KMeansBefore {
  case class Centers(size: Int) {
    def add(point: Array[Double], sum: Array[Double]): Array[Double] = sum
    def moved(sum: Array[Double]): Centers = this
  }

  def sample(sc: SparkContext, points: RDD[Array[Double]], initial: Centers): Centers = {
$sample
    centers
  }
}
