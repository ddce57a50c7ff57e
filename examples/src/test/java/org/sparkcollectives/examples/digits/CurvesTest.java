package org.sparkcollectives.examples.digits;

import static org.assertj.core.api.Assertions.assertThat;

import java.awt.image.BufferedImage;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import javax.imageio.ImageIO;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class CurvesTest {

  @TempDir private Path folder;

  private BufferedImage drawn(String name, List<Epoch> epochs) throws IOException {
    Path file = folder.resolve(name);
    Curves.draw("Training", epochs, file);
    return ImageIO.read(file.toFile());
  }

  private static int differingPixels(BufferedImage one, BufferedImage other) {
    int differing = 0;
    for (int x = 0; x < one.getWidth(); x++) {
      for (int y = 0; y < one.getHeight(); y++) {
        differing += one.getRGB(x, y) == other.getRGB(x, y) ? 0 : 1;
      }
    }
    return differing;
  }

  @Test
  void theCurvesAreThoseOfTheEpochs() throws IOException {
    List<Epoch> falling =
        List.of(new Epoch(1, 2.3, 0.1), new Epoch(2, 1.0, 0.6), new Epoch(3, 0.2, 0.9));
    List<Epoch> slow =
        List.of(new Epoch(1, 2.3, 0.1), new Epoch(2, 2.2, 0.2), new Epoch(3, 0.2, 0.9));
    BufferedImage picture = drawn("falling.png", falling);
    assertThat(picture.getWidth()).isEqualTo(900);
    assertThat(picture.getHeight()).isEqualTo(500);
    assertThat(differingPixels(picture, drawn("again.png", falling))).isZero();
    assertThat(differingPixels(picture, drawn("slow.png", slow))).isGreaterThan(500);
  }

  @Test
  void oneEpochIsEnough() throws IOException {
    assertThat(drawn("one.png", List.of(new Epoch(1, 2.3, 0.1))).getWidth()).isEqualTo(900);
  }
}
