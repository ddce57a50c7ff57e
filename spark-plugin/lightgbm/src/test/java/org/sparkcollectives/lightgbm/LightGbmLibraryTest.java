package org.sparkcollectives.lightgbm;

import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.sun.jna.ptr.IntByReference;
import com.sun.jna.ptr.PointerByReference;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Loading LightGBM, once or several times in a process. */
class LightGbmLibraryTest {

  @Test
  void librariesOfOneProcessCallTheirOwnFunctions(@TempDir Path directory) throws IOException {
    Path copy = Files.copy(Path.of(LibraryFile.path()), directory.resolve("lib_lightgbm.so"));
    for (String path : new String[] {LibraryFile.path(), copy.toString(), ""}) {
      LightGbmLibrary library = LightGbmLibrary.load(path);
      assertThatThrownBy(
              () ->
                  library.check(
                      library
                          .functions()
                          .LGBM_BoosterLoadModelFromString(
                              "no model", new IntByReference(), new PointerByReference())))
          .as("of '%s'", path)
          .isInstanceOf(LightGbmException.class)
          .hasMessageContaining("doesn't specify the number of classes");
    }
  }

  @Test
  void aLibraryThatIsNotThereIsNamed() {
    assertThatThrownBy(() -> LightGbmLibrary.load("/nowhere/lib_lightgbm.so"))
        .isInstanceOf(LightGbmException.class)
        .hasMessageContaining("/nowhere/lib_lightgbm.so");
  }
}
