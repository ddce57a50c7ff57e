import org.apache.spark.SparkContext

object Shell {
  def sample(sc: SparkContext): Unit = {
$sample
  }
}
