package org.sparkcollectives.djl;

import static org.assertj.core.api.Assertions.assertThat;

import ai.djl.Model;
import ai.djl.ndarray.NDArray;
import ai.djl.ndarray.NDList;
import ai.djl.ndarray.NDManager;
import ai.djl.ndarray.types.DataType;
import ai.djl.ndarray.types.Shape;
import ai.djl.nn.Activation;
import ai.djl.nn.SequentialBlock;
import ai.djl.nn.core.Linear;
import ai.djl.training.ParameterStore;
import ai.djl.training.dataset.ArrayDataset;
import java.net.URI;
import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Random;
import java.util.function.Function;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import javax.tools.JavaFileObject;
import javax.tools.SimpleJavaFileObject;
import javax.tools.ToolProvider;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;
import org.sparkcollectives.GroupOptions;
import org.sparkcollectives.ProcessGroup;
import org.sparkcollectives.testing.GroupRuns;

/** Runs the sample of the page about training, as it stands there. */
@Timeout(120)
class DjlPageTest {

  private static final Path ROOT = Path.of("../..");
  private static final int FEATURES = 64;
  private static final int CLASSES = 10;

  @TempDir private Path folder;

  @BeforeAll
  static void needsPyTorch() {
    Engines.assumePyTorch();
  }

  private static String sample() throws Exception {
    String page = Files.readString(ROOT.resolve("docs/guide/training.md"));
    Matcher fence =
        Pattern.compile("<!-- sample: djl -->\n```java\n(.*?)```\n", Pattern.DOTALL).matcher(page);
    assertThat(fence.find()).isTrue();
    String context = Files.readString(ROOT.resolve("examples/src/test/resources/samples/djl.java"));
    return context.replace("$sample\n", fence.group(1));
  }

  private static Class<?> compiled(Path classes) throws Exception {
    List<String> options =
        List.of(
            "-proc:none",
            "-classpath",
            System.getProperty("java.class.path"),
            "-d",
            Files.createDirectories(classes).toString());
    String text = sample();
    JavaFileObject source =
        new SimpleJavaFileObject(URI.create("string:///Sample.java"), JavaFileObject.Kind.SOURCE) {
          @Override
          public CharSequence getCharContent(boolean ignoreEncodingErrors) {
            return text;
          }
        };
    assertThat(
            ToolProvider.getSystemJavaCompiler()
                .getTask(null, null, null, options, null, List.of(source))
                .call())
        .isTrue();
    URLClassLoader loader =
        new URLClassLoader(new URL[] {classes.toUri().toURL()}, DjlPageTest.class.getClassLoader());
    return loader.loadClass("Sample");
  }

  /**
   * Returns images in which the pixels of the class are bright; all of them, or those of a rank.
   */
  private static NDList images(NDManager manager, int count, int rank) {
    Random random = new Random(rank);
    float[] pixels = new float[count * FEATURES];
    float[] classes = new float[count];
    for (int i = 0; i < count; i++) {
      classes[i] = random.nextInt(CLASSES);
      for (int j = 0; j < FEATURES; j++) {
        pixels[i * FEATURES + j] =
            random.nextFloat() / 2 + (j % CLASSES == (int) classes[i] ? 1 : 0);
      }
    }
    return new NDList(
        manager.create(pixels, new Shape(count, FEATURES)),
        manager.create(classes, new Shape(count, 1)));
  }

  private static ArrayDataset dataset(NDManager manager, int count, int rank) {
    NDList images = images(manager, count, rank);
    return new ArrayDataset.Builder()
        .setData(images.get(0))
        .optLabels(images.get(1))
        .setSampling(16, false)
        .build();
  }

  @Test
  void theSampleTrainsAModelInTwoRanksOfOneProcessWithUnevenPartitions() throws Exception {
    Class<?> sample = compiled(folder.resolve("classes"));
    Path saved = folder.resolve("model");
    GroupRuns.run(
        2,
        GroupOptions.defaults(),
        group -> {
          Function<NDManager, ArrayDataset> rows =
              manager -> dataset(manager, group.rank() == 0 ? 200 : 60, group.rank());
          Object rank = sample.getConstructor(Function.class).newInstance(rows);
          return sample
              .getMethod("train", ProcessGroup.class, Path.class)
              .invoke(rank, group, saved);
        });
    try (Model model = Model.newInstance("digits", "PyTorch")) {
      model.setBlock(
          new SequentialBlock()
              .add(Linear.builder().setUnits(64).build())
              .add(Activation::relu)
              .add(Linear.builder().setUnits(CLASSES).build()));
      model.getBlock().initialize(model.getNDManager(), DataType.FLOAT32, new Shape(1, FEATURES));
      model.load(saved, "digits");
      assertThat(accuracy(model)).isGreaterThan(0.9);
    }
  }

  private static double accuracy(Model model) {
    try (NDManager manager = model.getNDManager().newSubManager()) {
      NDList images = images(manager, 100, 7);
      NDArray found =
          model
              .getBlock()
              .forward(new ParameterStore(manager, false), new NDList(images.get(0)), false)
              .singletonOrThrow()
              .argMax(1);
      float[] expected = images.get(1).toFloatArray();
      long[] classes = found.toLongArray();
      int right = 0;
      for (int i = 0; i < classes.length; i++) {
        right += classes[i] == (long) expected[i] ? 1 : 0;
      }
      return right / 100.0;
    }
  }
}
