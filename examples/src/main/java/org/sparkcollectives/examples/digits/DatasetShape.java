package org.sparkcollectives.examples.digits;

import java.io.Serializable;
import java.util.Arrays;
import java.util.Collection;
import java.util.Comparator;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeSet;
import org.apache.spark.api.java.JavaRDD;

/** The number of features of a file's samples, and the names of their classes. */
final class DatasetShape implements Serializable {

  private static final long serialVersionUID = 1;

  /** The most classes; with more, the label column is taken for a column of measured numbers. */
  static final int MOST_CLASSES = 1000;

  /** Orders names that are numbers by their size, then the others by their letters. */
  private static final Comparator<String> ORDER =
      Comparator.comparingDouble(DatasetShape::size).thenComparing(Comparator.naturalOrder());

  private final int features;
  private final String[] classes;
  private final Map<String, Integer> labels = new HashMap<>();

  private DatasetShape(int features, Collection<String> classes) {
    this.features = features;
    this.classes = classes.toArray(String[]::new);
    for (String name : this.classes) {
      labels.put(name, labels.size());
    }
  }

  /** Reads all lines. Blocks for a job. */
  static DatasetShape of(JavaRDD<LabeledValues> lines) {
    int[] features = {0};
    TreeSet<String> classes = new TreeSet<>(ORDER);
    lines
        .mapPartitions(
            rows -> {
              int most = 0;
              Map<String, Integer> names = new HashMap<>();
              while (rows.hasNext() && names.size() <= MOST_CLASSES) {
                LabeledValues row = rows.next();
                most = Math.max(most, row.values().length);
                names.put(row.label(), 0);
              }
              return List.of(new scala.Tuple2<>(most, names.keySet().toArray(String[]::new)))
                  .iterator();
            })
        .collect()
        .forEach(
            each -> {
              features[0] = Math.max(features[0], each._1());
              classes.addAll(Arrays.asList(each._2()));
            });
    if (classes.size() < 2 || classes.size() > MOST_CLASSES) {
      throw new IllegalArgumentException(
          "The labels must be of 2 to "
              + MOST_CLASSES
              + " classes, but are of "
              + (classes.size() > MOST_CLASSES ? "more" : classes.size())
              + ", such as "
              + classes.stream().limit(3).toList()
              + "; is --label-column right?");
    }
    if (features[0] == 0) {
      throw new IllegalArgumentException("The samples have no features");
    }
    return new DatasetShape(features[0], classes);
  }

  private static double size(String name) {
    try {
      double size = Double.parseDouble(name);
      return Double.isNaN(size) ? Double.POSITIVE_INFINITY : size;
    } catch (NumberFormatException e) {
      return Double.POSITIVE_INFINITY;
    }
  }

  int features() {
    return features;
  }

  List<String> classes() {
    return List.of(classes);
  }

  /** Returns a line of the file as a sample of this shape. */
  Sample sample(LabeledValues line) {
    return new Sample(Arrays.copyOf(line.values(), features), labels.get(line.label()));
  }
}
