import org.apache.spark.ml.classification.LogisticRegression;
import org.apache.spark.ml.classification.LogisticRegressionModel;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;

class Training {
  static LogisticRegressionModel fit(Dataset<Row> rows) {
$sample
    return model;
  }
}
