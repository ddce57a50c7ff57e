import org.apache.spark.SparkContext

object FirstProgram {
  def sample(sc: SparkContext): Unit = {
$sample
  }
}
