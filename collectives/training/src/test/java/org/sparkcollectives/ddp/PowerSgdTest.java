package org.sparkcollectives.ddp;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.sparkcollectives.ProcessGroup;
import org.sparkcollectives.Tensor;
import org.sparkcollectives.testing.GroupRuns;
import org.sparkcollectives.testing.LeakCheck;
import org.sparkcollectives.testing.Paths;

/** Compares PowerSGD with what PyTorch computes, step by step. */
@ExtendWith(LeakCheck.class)
class PowerSgdTest {

  private static PowerSgdOptions options(JsonNode each) {
    JsonNode given = each.get("options");
    return PowerSgdOptions.defaults()
        .withErrorFeedback(given.path("errorFeedback").asBoolean(true))
        .withWarmStart(given.path("warmStart").asBoolean(true))
        .withStart(given.get("startIteration").asLong())
        .withRank(given.path("rank").asInt(1))
        .withMinCompressionRate(given.path("minCompressionRate").asDouble(2))
        .withEpsilon(given.path("orthogonalizationEpsilon").asDouble(0))
        .withBatched(each.get("batched").asBoolean());
  }

  /** Returns the columns of each Q that PyTorch drew, in the order in which they were drawn. */
  private static List<float[]> draws(JsonNode each, boolean warmStart) {
    List<float[]> draws = new ArrayList<>();
    for (JsonNode step : each.get("steps")) {
      if (warmStart && !draws.isEmpty()) {
        break;
      }
      for (JsonNode stack : step.get("qBeforeOrthogonalisation")) {
        float[] values = Tables.floats(stack.get("values"));
        int rows = stack.get("rows").asInt();
        int columns = stack.get("columns").asInt();
        for (int matrix = 0; matrix < stack.get("matrices").asInt(); matrix++) {
          float[] byColumn = new float[rows * columns];
          for (int i = 0; i < byColumn.length; i++) {
            byColumn[i % columns * rows + i / columns] = values[matrix * byColumn.length + i];
          }
          draws.add(byColumn);
        }
      }
    }
    return draws;
  }

  @ParameterizedTest
  @EnumSource(names = {"HEAP", "DETAIL", "SHM", "TCP", "MIXED"})
  void everyStepIsThatOfPyTorch(Paths paths) {
    GroupRuns.run(
        2,
        paths,
        group -> {
          for (JsonNode each : Tables.of("powersgd")) {
            new Case(group, each).check();
          }
          return null;
        });
  }

  /** A case of the table. */
  private static final class Case {
    private final ProcessGroup group;
    private final JsonNode table;
    private final PowerSgdOptions options;
    private final PowerSgd hook;
    private final int[] order;
    private final long[][] shapes;

    Case(ProcessGroup group, JsonNode table) {
      this.group = group;
      this.table = table;
      this.options = options(table);
      List<float[]> draws = draws(table, options.warmStart());
      this.hook =
          new PowerSgd(
              options,
              (length, columns, draw) -> {
                boolean given = draw < draws.size();
                return given ? draws.get((int) draw).clone() : new float[length * columns];
              });
      this.order = new int[table.get("bucketOrder").size()];
      this.shapes = new long[order.length][];
      for (int i = 0; i < order.length; i++) {
        order[i] = table.get("bucketOrder").get(i).asInt();
        shapes[i] = Tables.longs(table.get("shapes").get(order[i]));
      }
    }

    /** Returns the arrays of all parameters as they lie in the bucket. */
    private float[] inBucketOrder(JsonNode arrays) {
      int length = 0;
      for (JsonNode each : arrays) {
        length += each.size();
      }
      float[] all = new float[length];
      int at = 0;
      for (int parameter : order) {
        float[] values = Tables.floats(arrays.get(parameter));
        System.arraycopy(values, 0, all, at, values.length);
        at += values.length;
      }
      return all;
    }

    void check() throws Exception {
      int number = 0;
      for (JsonNode step : table.get("steps")) {
        String what = table.get("name").asText() + ", step " + number;
        Tensor buffer = Tensor.of(inBucketOrder(step.get("gradients").get(group.rank())));
        GivenBucket bucket = new GivenBucket(group, buffer, shapes).withStep(number++);
        assertThat(hook.run(bucket).get(30, TimeUnit.SECONDS)).isSameAs(buffer);
        Numbers.assertClose(
            what, (float[]) buffer.array(), inBucketOrder(step.get("output")), 1e-5f);
        assertThat(hook.elementsBefore()).as(what).isEqualTo(step.get("elementsBefore").asLong());
        assertThat(hook.elementsAfter()).as(what).isEqualTo(step.get("elementsAfter").asLong());
        if (step.get("errors").isNull()) {
          assertThat(hook.state().keySet()).noneMatch(key -> key.endsWith("/error"));
        } else {
          checkErrors(what, Tables.floats(step.get("errors").get(group.rank())));
        }
      }
    }

    /** PyTorch keeps errors of uncompressed gradients, too; their mean over the ranks is 0. */
    private void checkErrors(String what, float[] expected) {
      Map<String, Tensor> state = hook.state();
      if (options.batched()) {
        Numbers.assertClose(what, error(state, "bucket 0 " + List.of(0, 1)), expected, 1e-5f);
        return;
      }
      int at = 0;
      for (int i = 0; i < shapes.length; i++) {
        int length = 1;
        for (long extent : shapes[i]) {
          length *= (int) extent;
        }
        if (state.containsKey("parameter " + i + "/error")) {
          float[] own = Arrays.copyOfRange(expected, at, at + length);
          Numbers.assertClose(what, error(state, "parameter " + i), own, 1e-5f);
        } else {
          assertThat(shapes[i]).hasSize(1);
        }
        at += length;
      }
    }

    private static float[] error(Map<String, Tensor> state, String name) {
      return (float[]) state.get(name + "/error").array();
    }
  }
}
