package org.sparkcollectives.gpu.nccl;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.List;
import org.junit.jupiter.api.Test;
import org.sparkcollectives.gpu.testing.FakeLibraries;

/** Where NCCL is looked for, and what is said when it is nowhere. */
class NcclLibraryTest {

  @Test
  void whoeverNamesALibraryGetsNoOther() {
    assertThat(NcclLibrary.places("/opt/libnccl.so.2", "/env/libnccl.so.2"))
        .containsExactly("/opt/libnccl.so.2");
    assertThat(NcclLibrary.places("", "/env/libnccl.so.2")).containsExactly("/env/libnccl.so.2");
    assertThat(NcclLibrary.places("", null).get(0)).isEqualTo("libnccl.so.2");
  }

  @Test
  void theErrorNamesEveryPlaceThatWasLookedAt() {
    assertThatThrownBy(
            () -> NcclLibrary.load(List.of("/nowhere/libnccl.so.2", "/neither/libnccl.so.2")))
        .isInstanceOf(NcclException.class)
        .hasMessageContaining("/nowhere/libnccl.so.2")
        .hasMessageContaining("/neither/libnccl.so.2")
        .hasMessageContaining("spark.collectives.gpu.nccl.library")
        .hasMessageContaining("SPARK_COLLECTIVES_NCCL_LIBRARY");
  }

  @Test
  void aVersionThatIsTooOldIsRefusedWithTheOldestThatIsNot() throws Exception {
    String old = FakeLibraries.environmentOfNccl(22203).get("LD_LIBRARY_PATH") + "/libnccl.so.2";
    assertThatThrownBy(() -> NcclLibrary.load(List.of(old)))
        .isInstanceOf(NcclException.class)
        .hasMessageContaining("NCCL 2.22.3, found as " + old)
        .hasMessageContaining("2.23.0 is the oldest that can be used");
  }

  @Test
  void aVersionReadsAsPeopleWriteIt() {
    assertThat(NcclLibrary.text(22809)).isEqualTo("2.28.9");
    assertThat(NcclLibrary.text(22300)).isEqualTo("2.23.0");
    assertThat(NcclLibrary.text(2804)).isEqualTo("2.8.4");
  }
}
