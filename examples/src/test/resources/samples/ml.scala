import org.apache.spark.ml.classification.LogisticRegressionModel
import org.apache.spark.sql.DataFrame

object SparkMl {
  def sample(rows: DataFrame): LogisticRegressionModel = {
$sample
    model
  }
}
