package org.sparkcollectives;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.net.URL;
import java.net.URLClassLoader;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.function.IntPredicate;
import java.util.stream.IntStream;
import javax.tools.ToolProvider;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;
import org.sparkcollectives.spi.RankContext;
import org.sparkcollectives.testing.GroupRuns;
import org.sparkcollectives.testing.LeakCheck;

/** Tests objects of classes that not every rank has. */
@ExtendWith(LeakCheck.class)
class ObjectClassesTest {

  @TempDir private Path folder;
  private URLClassLoader loader;

  @BeforeEach
  void compile() throws Exception {
    Path source = folder.resolve("Measurement.java");
    Files.writeString(
        source,
        """
        package farm;

        public class Measurement {
          private final int degrees;

          public Measurement(int degrees) {
            this.degrees = degrees;
          }

          @Override
          public String toString() {
            return degrees + " degrees";
          }
        }
        """);
    int status =
        ToolProvider.getSystemJavaCompiler()
            .run(null, null, null, "-d", folder.toString(), source.toString());
    assertThat(status).isZero();
    loader = new URLClassLoader(new URL[] {folder.toUri().toURL()}, getClass().getClassLoader());
  }

  @AfterEach
  void close() throws Exception {
    loader.close();
  }

  private Object measurement(int degrees) throws ReflectiveOperationException {
    return loader.loadClass("farm.Measurement").getConstructor(int.class).newInstance(degrees);
  }

  /** Runs {@code body} as ranks of which some have the class. */
  private void ranks(int size, IntPredicate hasClass, GroupRuns.Body<Void> body) {
    GroupRuns.run(
        size,
        GroupOptions.defaults(),
        rank -> {
          if (hasClass.test(rank)) {
            Thread.currentThread().setContextClassLoader(loader);
          }
          return RankContext.process();
        },
        body);
  }

  @Test
  void aClassIsFoundByTheThreadThatMakesTheGroup() {
    ranks(
        3,
        rank -> true,
        group -> {
          List<Object> all = group.objects().allGather(measurement(20 + group.rank()));
          assertThat(all)
              .map(Object::toString)
              .containsExactly("20 degrees", "21 degrees", "22 degrees");
          return null;
        });
  }

  @Test
  void aMissingClassIsNamedWhereItIsMissingAndTheRanksStayInStep() {
    for (int more : new int[] {0, 2_000, 10_000_000}) {
      ranks(
          3,
          rank -> rank != 2,
          group -> {
            ObjectCollectives objects = group.objects();
            int rank = group.rank();
            List<Object> mine =
                rank == 0
                    ? List.of(new byte[more], measurement(5), new byte[more])
                    : List.of(new byte[more]);
            if (rank == 2) {
              assertMissing(() -> objects.broadcast(null, 0), "object broadcast from rank 0");
              assertMissing(() -> objects.allGather(mine), "object all-gather");
              assertMissing(() -> objects.gather(mine, 2), "object gather at rank 2");
              assertMissing(() -> objects.scatter(null, 0), "object scatter from rank 0");
              assertMissing(() -> objects.recv(0, 3), "object send from rank 0 to rank 2");
            } else {
              assertThat(objects.broadcast(rank == 0 ? mine : null, 0)).hasSize(3);
              assertThat(objects.allGather(mine).get(0).get(1)).hasToString("5 degrees");
              assertThat(objects.gather(mine, 2)).isNull();
              assertThat(objects.scatter(rank == 0 ? List.of(1, 2, mine) : null, 0))
                  .isEqualTo(rank + 1);
              if (rank == 0) {
                objects.send(mine, 2, 3);
              }
            }
            assertThat(objects.allGather(rank)).isEqualTo(IntStream.range(0, 3).boxed().toList());
            return null;
          });
    }
  }

  private static void assertMissing(
      org.assertj.core.api.ThrowableAssert.ThrowingCallable call, String name) {
    assertThatThrownBy(call)
        .isInstanceOf(ObjectSerializationException.class)
        .hasMessageStartingWith(name)
        .hasMessageContaining("class farm.Measurement is in the object of rank 0")
        .hasMessageContaining("missing on rank 2; give all ranks the jar");
  }
}
